package main

import (
	"os"

	"github.com/spf13/cobra"

	"plexus/internal/practice"
	"plexus/internal/scenario"
)

func (a app) practice() *cobra.Command {
	var file, addr string
	cmd := &cobra.Command{
		Use:     "practice",
		Short:   "Serve the practice chat site alone",
		Example: "  plexus practice\n  plexus practice --scenario my-scenario.yaml --listen 127.0.0.1:8443",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := practice.Config{Addr: addr, Log: a.logger()}
			if file != "" {
				src, ok := scenario.Builtin(file)
				if !ok {
					var err error
					if src, err = os.ReadFile(file); err != nil {
						return usage("%s is neither a scenario file nor one of %q", file, scenario.Names())
					}
				}
				var err error
				if cfg.Scenario, err = scenario.Parse(src); err != nil {
					return err
				}
			}
			site, err := practice.Start(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			a.printf("The practice site is at https://%s\nStart a Chromium of its own that finds it:\n\n  chromium --user-data-dir=$(mktemp -d)", site.Addr())
			for _, flag := range site.ChromiumFlags() {
				a.printf(" \\\n    '%s'", flag)
			}
			a.printf(" \\\n    https://%s/\n\nAdd --load-extension=DIR with the folder of `plexus extension` to have it driven, and --no-sandbox as root. Ctrl+C ends it.\n", practice.Host)
			<-cmd.Context().Done()
			return site.Close()
		},
	}
	cmd.Flags().StringVar(&file, "scenario", "", "a scenario file, or the name of one that comes with Plexus (default: demo)")
	cmd.Flags().StringVar(&addr, "listen", "127.0.0.1:0", "where to listen")
	return cmd
}
