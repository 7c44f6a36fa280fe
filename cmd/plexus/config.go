package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"plexus/internal/client"
	"plexus/internal/config"
)

func (a app) config() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show and change settings",
		Example: "  plexus config\n  plexus config set model.api.url http://localhost:11434/v1\n  plexus config reset model.api.url",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				var all []config.Value
				if err := s.Get(cmd.Context(), "/api/settings", &all); err != nil {
					return err
				}
				if asJSON {
					return a.json(all)
				}
				for _, v := range all {
					mark := " "
					if v.Set {
						mark = "*"
					}
					a.printf("%s %-20s %-14s %s\n", mark, v.Key, quoteEmpty(v.Value), v.Doc)
				}
				a.printf("\n* is set by you; the others are defaults.\n")
				return nil
			})
		},
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{Use: "reference", Short: "Print the page of all settings as Markdown", Args: cobra.NoArgs, Run: func(*cobra.Command, []string) {
			a.printf("%s", config.Reference())
		}},
		a.setting("get KEY", "Show a setting", 1, func(args []string) client.Request {
			return client.Request{Method: http.MethodGet, Path: "/api/settings"}
		}),
		a.setting("set KEY VALUE", "Change a setting", 2, func(args []string) client.Request {
			return client.Request{Method: http.MethodPut, Path: "/api/settings/" + escape(args[0]), In: map[string]string{"value": args[1]}}
		}),
		a.setting("reset KEY", "Go back to a setting's default", 1, func(args []string) client.Request {
			return client.Request{Method: http.MethodDelete, Path: "/api/settings/" + escape(args[0])}
		}))
	return cmd
}

// setting makes a command that acts on one setting and prints it.
func (a app) setting(use, short string, args int, request func([]string) client.Request) *cobra.Command {
	return &cobra.Command{
		Use:               use,
		Short:             short,
		Args:              cobra.ExactArgs(args),
		ValidArgsFunction: completeSettings,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				if err := s.Do(cmd.Context(), request(args)); err != nil {
					return err
				}
				var all []config.Value
				if err := s.Get(cmd.Context(), "/api/settings", &all); err != nil {
					return err
				}
				for _, v := range all {
					if v.Key == args[0] {
						a.printf("%s = %s\n", v.Key, quoteEmpty(v.Value))
						return nil
					}
				}
				return fmt.Errorf("there is no setting %q. `plexus config` lists them", args[0])
			})
		},
	}
}

func completeSettings(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if len(args) == 0 {
		for _, d := range config.Declarations() {
			out = append(out, d.Key+"\t"+d.Doc)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func quoteEmpty(v string) string {
	if v == "" {
		return `""`
	}
	return v
}

func (a app) secret() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "secret",
		Short:   "Keep keys of model providers",
		Long:    "Secrets are kept in the system's key store, or in a file that only you can read where there is none. A value is read from the terminal or from standard input, never from the command line.",
		Example: "  plexus secret set model.api.key\n  pass show openai | plexus secret set model.api.key",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				var st struct {
					Place   string
					Secrets []struct {
						Name string
						Set  bool
					}
				}
				if err := s.Get(cmd.Context(), "/api/secrets", &st); err != nil {
					return err
				}
				for _, one := range st.Secrets {
					state := "not set"
					if one.Set {
						state = "set"
					}
					a.printf("%-16s %s\n", one.Name, state)
				}
				a.printf("Kept in %s.\n", st.Place)
				return nil
			})
		},
	}
	cmd.AddCommand(
		&cobra.Command{Use: "set NAME", Short: "Keep a secret", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			value, err := a.hidden("Value of " + args[0] + ": ")
			if err != nil {
				return err
			}
			return a.changeSecret(cmd, client.Request{Method: http.MethodPut, Path: "/api/secrets/" + escape(args[0]), In: map[string]string{"value": value}}, "kept")
		}},
		&cobra.Command{Use: "delete NAME", Short: "Forget a secret", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeSecret(cmd, client.Request{Method: http.MethodDelete, Path: "/api/secrets/" + escape(args[0])}, "forgotten")
		}})
	return cmd
}

func (a app) changeSecret(cmd *cobra.Command, r client.Request, done string) error {
	return a.with(cmd.Context(), func(s *session) error {
		var st struct{ Name string }
		r.Out = &st
		if err := s.Do(cmd.Context(), r); err != nil {
			return err
		}
		a.printf("%s: %s\n", st.Name, done)
		return nil
	})
}

// maxSecretInput bounds a secret from standard input.
const maxSecretInput = 64 << 10

// hidden reads a secret without showing it.
func (a app) hidden(prompt string) (string, error) {
	if f, ok := a.in.(*os.File); ok && a.tty {
		_, _ = fmt.Fprint(a.err, prompt)
		data, err := term.ReadPassword(int(f.Fd()))
		_, _ = fmt.Fprintln(a.err)
		if err != nil {
			return "", fmt.Errorf("read the secret: %w", err)
		}
		return strings.TrimSpace(string(data)), nil
	}
	data, err := io.ReadAll(io.LimitReader(a.in, maxSecretInput))
	if err != nil {
		return "", fmt.Errorf("read the secret from standard input: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
