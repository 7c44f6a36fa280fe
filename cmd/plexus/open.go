package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"
)

func (a app) open() *cobra.Command {
	var show bool
	cmd := &cobra.Command{
		Use:     "open",
		Short:   "Open the web UI in your browser",
		Example: "  plexus open\n  plexus open --print",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.require(cmd.Context())
			if err != nil {
				return err
			}
			var link struct{ URL string }
			if err := c.Post(cmd.Context(), "/api/keys", nil, &link); err != nil {
				return err
			}
			if !show && browse(cmd.Context(), link.URL) == nil {
				a.printf("Opened the UI in your browser.\n")
				return nil
			}
			a.printf("%s\n", link.URL)
			if !show {
				_, _ = fmt.Fprintln(a.err, "plexus: no browser could be started; open this link yourself. It works once, for two minutes.")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&show, "print", false, "print the link instead; it works once, for two minutes")
	return cmd
}

// browse asks the system to open a link.
func browse(ctx context.Context, url string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(ctx, "open", url).Run()
	case "windows":
		return exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url).Run()
	default:
		return exec.CommandContext(ctx, "xdg-open", url).Run()
	}
}
