package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"plexus/internal/config"
	"plexus/internal/daemon"
)

func (a app) serve() *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run Plexus and serve the web UI",
		Example: "  plexus serve\n  plexus serve --port 8770",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			paths, err := a.home()
			if err != nil {
				return err
			}
			ports := daemon.Ports
			if cmd.Flags().Changed("port") {
				if port < 0 || port > 65535 {
					return usage("--port %d is not a port", port)
				}
				ports = []int{port}
			}
			d, err := daemon.New(cmd.Context(), daemon.Config{Paths: paths, Ports: ports, Version: config.Version, Log: a.logger()})
			if err != nil {
				return err
			}
			a.printf("Plexus %s serves %s\n", config.Version, d.State().URL())
			a.printf("Open it with `plexus open`. Ctrl+C ends it; threads are kept in %s\n", paths.Home)
			if aside := d.Store().Aside(); aside != "" {
				_, _ = fmt.Fprintf(a.err, "plexus: the database was damaged; it is kept as %s and a new one was begun\n", aside)
			}
			err = d.Run(cmd.Context())
			a.logger().Debug("ended", slog.Any("error", err))
			return err
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "listen on this port only, 0 for any free one (default: the first free of 8765 to 8769)")
	return cmd
}
