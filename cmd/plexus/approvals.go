package main

import (
	"strings"

	"github.com/spf13/cobra"

	"plexus/internal/store"
)

func (a app) approvals() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "List the questions that wait for you",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				var all []store.Approval
				if err := s.Get(cmd.Context(), "/api/approvals", &all); err != nil {
					return err
				}
				if asJSON {
					return a.json(all)
				}
				if len(all) == 0 {
					a.printf("Nothing waits for you.\n")
				}
				for _, q := range all {
					a.printf("%s  %s\n", q.ID, clean(q.Title))
					if q.Dir != "" {
						a.printf("    in: %s\n", oneLine(q.Dir))
					}
					if q.Command != "" && q.Command != q.Title {
						a.printf("    %s\n", clean(strings.ReplaceAll(q.Command, "\n", "\n    ")))
					}
					a.printf("    why: %s\n", clean(strings.Join(q.Reasons, "; ")))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a app) approve() *cobra.Command {
	var always bool
	var prefix string
	cmd := &cobra.Command{
		Use:     "approve APPROVAL",
		Short:   "Allow an action that waits",
		Example: "  plexus approvals\n  plexus approve p_x7k2 --always\n  plexus approve p_x7k2 --prefix \"go test\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			decision := "allow"
			if always || prefix != "" {
				decision = "always"
			}
			return a.answer(cmd, args[0], map[string]string{"decision": decision, "prefix": prefix})
		},
	}
	cmd.Flags().BoolVar(&always, "always", false, "allow this command in this folder from now on")
	cmd.Flags().StringVar(&prefix, "prefix", "", "allow single commands that begin with these words in this folder from now on, unless they are dangerous")
	return cmd
}

func (a app) deny() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:     "deny APPROVAL",
		Short:   "Deny an action that waits; the model is told your reason",
		Example: "  plexus deny p_x7k2 --reason \"use the test database\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.answer(cmd, args[0], map[string]string{"decision": "deny", "reason": reason})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the model")
	return cmd
}

func (a app) answer(cmd *cobra.Command, id string, in map[string]string) error {
	return a.with(cmd.Context(), func(s *session) error {
		var done store.Approval
		if err := s.Post(cmd.Context(), "/api/approvals/"+escape(id), in, &done); err != nil {
			return err
		}
		a.printf("%s: %s\n", done.State, clean(done.Title))
		if done.Always != "" {
			a.printf("From now on this is allowed in this folder without asking. The UI lists what is, and revokes it.\n")
		}
		return nil
	})
}
