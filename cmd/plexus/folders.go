package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"plexus/internal/client"
	"plexus/internal/store"
)

func (a app) folders() *cobra.Command {
	var asJSON bool
	list := func(cmd *cobra.Command, _ []string) error {
		return a.with(cmd.Context(), func(s *session) error {
			var all []store.Folder
			if err := s.Get(cmd.Context(), "/api/folders", &all); err != nil {
				return err
			}
			if asJSON {
				return a.json(all)
			}
			if len(all) == 0 {
				a.printf("No folder is approved. Approve one with `plexus folders add DIR`.\n")
			}
			for _, f := range all {
				a.printf("%-20s  %-11s  %s\n", "/"+oneLine(f.Name), f.Level, oneLine(f.Path))
			}
			return nil
		})
	}
	cmd := &cobra.Command{
		Use:     "folders",
		Short:   "Approve, list and remove the folders that Plexus may work in",
		Example: "  plexus folders add ~/src/app\n  plexus folders level app manual\n  plexus folders remove app",
		Args:    cobra.NoArgs,
		RunE:    list,
	}
	cmd.PersistentFlags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the approved folders", Args: cobra.NoArgs, RunE: list},
		a.addFolder(&asJSON), a.removeFolder(), a.setFolderLevel())
	return cmd
}

func (a app) addFolder(asJSON *bool) *cobra.Command {
	var level, name string
	cmd := &cobra.Command{
		Use:     "add DIR",
		Aliases: []string{"approve"},
		Short:   "Approve a folder",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			abs, err := realDir(args[0])
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), func(s *session) error {
				var f store.Folder
				if err := s.Post(cmd.Context(), "/api/folders", map[string]string{"path": abs, "level": level, "name": name}, &f); err != nil {
					return err
				}
				if *asJSON {
					return a.json(f)
				}
				a.printf("Approved %s as /%s at level %s.\n", oneLine(f.Path), oneLine(f.Name), f.Level)
				if level != "" && f.Level != level {
					a.printf("It was approved before. Change its level with `plexus folders level %s %s`.\n", f.Name, level)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&level, "level", "", "manual, auto-review or full (default: the setting folder.level)")
	cmd.Flags().StringVar(&name, "name", "", "a name for it (default: the folder's own)")
	return cmd
}

func (a app) removeFolder() *cobra.Command {
	return &cobra.Command{
		Use:   "remove FOLDER",
		Short: "Take back the approval of a folder; its files and threads stay",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				f, err := s.folder(cmd, args[0])
				if err != nil {
					return err
				}
				if err := s.Do(cmd.Context(), client.Request{Method: http.MethodDelete, Path: "/api/folders/" + f.ID}); err != nil {
					return err
				}
				a.printf("Plexus may no longer work in %s. Its threads are archived.\n", oneLine(f.Path))
				return nil
			})
		},
	}
}

func (a app) setFolderLevel() *cobra.Command {
	return &cobra.Command{
		Use:   "level FOLDER LEVEL",
		Short: "Set when Plexus asks in a folder: manual, auto-review or full",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				f, err := s.folder(cmd, args[0])
				if err != nil {
					return err
				}
				r := client.Request{Method: http.MethodPatch, Path: "/api/folders/" + f.ID, In: map[string]string{"level": args[1]}, Out: &f}
				if err := s.Do(cmd.Context(), r); err != nil {
					return err
				}
				a.printf("/%s is at level %s.\n", f.Name, f.Level)
				return nil
			})
		},
	}
}

// folder finds an approved folder by name, id or path.
func (s *session) folder(cmd *cobra.Command, spec string) (store.Folder, error) {
	var all []store.Folder
	if err := s.Get(cmd.Context(), "/api/folders", &all); err != nil {
		return store.Folder{}, err
	}
	abs, err := realDir(spec)
	for _, f := range all {
		if f.ID == spec || f.Name == spec || "/"+f.Name == spec || f.Path == spec || (err == nil && f.Path == abs) {
			return f, nil
		}
	}
	return store.Folder{}, fmt.Errorf("the folder %s is not approved, so nothing was done. `plexus folders` lists the approved ones, `plexus folders add %s` approves it", spec, spec)
}
