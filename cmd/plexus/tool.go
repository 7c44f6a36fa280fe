package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"plexus/internal/gate"
	"plexus/internal/plx"
	"plexus/internal/tool"
)

// maxInput bounds what tool and parse read from standard input.
const maxInput = 16 << 20

func (a app) tool() *cobra.Command {
	var folder, level string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tool [NAME JSON]",
		Short: "Call a tool as the model would, or list the tools",
		Long:  "Call one tool in an approved folder, through the same gate and record as every other call. With - for JSON the input is read from standard input.",
		Example: "  plexus tool\n  plexus tool read '{\"path\":\"go.mod\"}' --folder .\n" +
			"  plexus tool run '{\"command\":\"go test ./...\"}' --folder ~/src/app --level full --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return usage("name a tool and its input, as in: plexus tool read '{\"path\":\"go.mod\"}'")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				if len(args) == 0 {
					return a.listTools(cmd, s, asJSON)
				}
				input, err := a.toolInput(args[1])
				if err != nil {
					return err
				}
				f, err := s.folder(cmd, folder)
				if err != nil {
					return err
				}
				var res tool.Result
				in := map[string]any{"folder": f.ID, "level": level, "input": input}
				if err := s.Post(cmd.Context(), "/api/tools/"+escape(args[0]), in, &res); err != nil {
					return err
				}
				return a.printResult(res, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&folder, "folder", ".", "an approved folder: path, name or id")
	cmd.Flags().StringVar(&level, "level", "", "manual, auto-review or full for this call (default: the folder's)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (a app) toolInput(arg string) (json.RawMessage, error) {
	if arg == "-" {
		data, err := io.ReadAll(io.LimitReader(a.in, maxInput))
		if err != nil {
			return nil, fmt.Errorf("read the input from standard input: %w", err)
		}
		arg = string(data)
	}
	if !json.Valid([]byte(arg)) {
		return nil, usage("the input is not JSON: %s", fit(arg, 80))
	}
	return json.RawMessage(arg), nil
}

func (a app) listTools(cmd *cobra.Command, s *session, asJSON bool) error {
	var all []tool.Info
	if err := s.Get(cmd.Context(), "/api/tools", &all); err != nil {
		return err
	}
	if asJSON {
		return a.json(all)
	}
	for _, t := range all {
		a.printf("%-14s %-6s %s\n", t.Name, t.Class, fit(t.Doc, 100))
	}
	return nil
}

func (a app) printResult(res tool.Result, asJSON bool) error {
	if asJSON {
		if err := a.json(res); err != nil {
			return err
		}
	} else {
		a.printf("%s\n", strings.TrimRight(clean(res.Text), "\n"))
	}
	switch {
	case res.Status == tool.StatusDenied:
		return exit{exitDenied}
	case res.Status != tool.StatusOK:
		return exit{exitFailed}
	}
	return nil
}

func (a app) classify() *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:     "classify -- COMMAND",
		Short:   "Say how the gate judges a command",
		Example: "  plexus classify -- 'git status'\n  plexus classify --json -- 'curl x | sh'",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			abs, err := realDir(dir)
			if err != nil {
				return err
			}
			paths, err := a.paths()
			if err != nil {
				return err
			}
			c := gate.Question{Subject: tool.Subject{Command: strings.Join(args, " ")}, Folder: abs, Home: paths.Home}.Classify()
			if asJSON {
				data, err := json.Marshal(c)
				a.printf("%s\n", data)
				return err
			}
			switch {
			case c.ReadOnly:
				a.printf("read-only: %s\n", c.Why)
			case len(c.Danger) > 0:
				a.printf("dangerous: %s\n", strings.Join(c.Danger, "; "))
			default:
				a.printf("neither read-only nor dangerous: %s\n", c.Why)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVarP(&dir, "directory", "C", ".", "the folder that it would run in")
	return cmd
}

func (a app) parse() *cobra.Command {
	var rendered, asJSON bool
	cmd := &cobra.Command{
		Use:     "parse",
		Short:   "Read a model's reply on standard input as the loop would",
		Example: "  pbpaste | plexus parse\n  plexus parse --rendered --json < reply.txt",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			data, err := io.ReadAll(io.LimitReader(a.in, maxInput+1))
			if err != nil {
				return fmt.Errorf("read the reply from standard input: %w", err)
			}
			if len(data) > maxInput {
				return fmt.Errorf("the reply is longer than %d bytes", maxInput)
			}
			reply := plx.Parse(string(data), plx.Options{Rendered: rendered})
			if asJSON {
				out, err := json.Marshal(reply)
				a.printf("%s\n", out)
				return err
			}
			a.printReply(reply)
			return nil
		},
	}
	cmd.Flags().BoolVar(&rendered, "rendered", false, "the text was read from a rendered page: decode entities in bodies")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON on one line")
	return cmd
}

func (a app) printReply(r plx.Reply) {
	for _, n := range r.Notes {
		a.printf("note    %s\n", clean(n))
	}
	for _, act := range r.Actions {
		attrs, _ := json.Marshal(act.Attrs)
		a.printf("action  %s %s\n", act.Tool, attrs)
		if act.Body != "" {
			a.printf("        %s\n", clean(strings.ReplaceAll(strings.TrimRight(act.Body, "\n"), "\n", "\n        ")))
		}
	}
	if r.Answer != "" {
		a.printf("answer  %s\n", clean(r.Answer))
	}
	for _, p := range r.Problems {
		a.printf("problem %s\n", p)
	}
	if r.NeedsCorrection {
		a.printf("        the loop would ask for this reply again\n")
	}
	if len(r.Notes)+len(r.Actions) == 0 && r.Answer == "" {
		a.printf("text    %s\n", clean(r.Display))
	}
}
