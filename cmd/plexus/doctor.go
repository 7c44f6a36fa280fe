package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"plexus/internal/config"
)

// check is one hop as the daemon reports it.
type check struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Text  string `json:"text"`
	Todo  string `json:"todo,omitempty"`
}

func (a app) doctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at each part between you and the model and say what is wrong",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				var report struct {
					Checks []check `json:"checks"`
				}
				if err := s.Get(cmd.Context(), "/api/doctor", &report); err != nil {
					return err
				}
				if s.own {
					report.Checks = append([]check{{Name: "daemon", State: "not-run", Text: "Plexus is not running; these checks ran without it.", Todo: "Start it with `plexus serve`."}}, report.Checks...)
				}
				if asJSON {
					return a.json(report)
				}
				failed := false
				for _, c := range report.Checks {
					a.printf("%-8s %-16s %s\n", c.State, c.Name, clean(c.Text))
					if c.Todo != "" {
						a.printf("%-8s %-16s → %s\n", "", "", clean(c.Todo))
					}
					failed = failed || c.State == "fail"
				}
				if failed {
					return exit{exitError}
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a app) version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			a.printf("plexus %s (%s, %s/%s)\n", config.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
