package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"plexus/internal/client"
	"plexus/internal/daemon"
	"plexus/web"
)

func (a app) extension() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "extension",
		Short:   "Write the browser extension and say how to load it",
		Example: "  plexus extension\n  plexus extension pair K7P-4MX",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			paths, err := a.paths()
			if err != nil {
				return err
			}
			ports := slices.Clone(daemon.Ports)
			if _, state, err := client.Find(cmd.Context(), paths); err == nil && !slices.Contains(ports, state.Port) {
				ports = append([]int{state.Port}, ports...) // a daemon that was given a port of its own
			}
			if err := writeExtension(paths.Extension, ports); err != nil {
				return err
			}
			a.printf("The extension is in %s\n\n", paths.Extension)
			a.printf("1. Open chrome://extensions in Chrome, Chromium, Edge, Brave or Vivaldi.\n")
			a.printf("2. Switch on \"Developer mode\", press \"Load unpacked\" and choose that folder.\n")
			a.printf("3. With `plexus serve` running, compare the code in the extension's popup with the one in the UI and approve it there,\n   or run `plexus extension pair CODE`.\n\n")
			a.printf("After an update of Plexus run this again and press the reload arrow on the extension's card.\n")
			return nil
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "pair CODE",
		Short: "Approve the browser that shows this code",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.require(cmd.Context())
			if err != nil {
				return err
			}
			if err := c.Post(cmd.Context(), "/api/pairings/"+escape(args[0]), map[string]bool{"approve": true}, nil); err != nil {
				return err
			}
			a.printf("Paired.\n")
			return nil
		},
	})
	return cmd
}

// endpointFile tells the extension at which ports of the loopback its daemon may be.
const endpointFile = "endpoint.json"

// writeExtension replaces the extension's folder. The folder stays the same, so that a browser which loaded it finds
// the new files there.
func writeExtension(dir string, ports []int) error {
	files := web.Extension()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the extension's folder: %w", err)
	}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
	if err != nil {
		return fmt.Errorf("write the extension: %w", err)
	}
	data, err := json.Marshal(map[string][]int{"ports": ports})
	if err != nil {
		return fmt.Errorf("encode the extension's ports: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, endpointFile), data, 0o644); err != nil {
		return fmt.Errorf("write the extension's ports: %w", err)
	}
	return nil
}

const consentText = `Driving chatgpt.com from a program may break its terms of use: they forbid automatic or programmatic extraction of
output. Your account may be limited or closed. Plexus reads no cookies or tokens of the page and hides nothing from the
site. The ways that providers support are the API model (plexus config set model.default api) and, later, the MCP door.
`

func (a app) consent() *cobra.Command {
	var agree, revoke bool
	cmd := &cobra.Command{
		Use:     "consent",
		Short:   "Read and agree to, or take back, driving the real chat site",
		Example: "  plexus consent\n  plexus consent --agree",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if agree && revoke {
				return usage("--agree and --revoke exclude each other")
			}
			a.printf("%s\n", consentText)
			if !agree && !revoke {
				if !a.tty || !a.yes("Drive chatgpt.com all the same?") {
					a.printf("The site is not driven. Agree with `plexus consent --agree`.\n")
					return nil
				}
				agree = true
			}
			return a.with(cmd.Context(), func(s *session) error {
				if err := s.Post(cmd.Context(), "/api/consent", map[string]any{"site": "chatgpt", "agreed": agree}, nil); err != nil {
					return err
				}
				if agree {
					a.printf("Agreed. Take it back with `plexus consent --revoke`.\n")
				} else {
					a.printf("Taken back. The site is no longer driven.\n")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&agree, "agree", false, "agree without being asked")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take the agreement back")
	return cmd
}
