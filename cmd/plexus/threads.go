package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"plexus/internal/store"
)

func escape(part string) string { return url.PathEscape(part) }

func (a app) threads() *cobra.Command {
	var asJSON, archived bool
	cmd := &cobra.Command{
		Use:     "threads [QUERY]",
		Short:   "List threads, the newest first",
		Example: "  plexus threads\n  plexus threads --json parser",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				q := url.Values{"archived": {strconv.FormatBool(archived)}}
				if len(args) == 1 {
					q.Set("q", args[0])
				}
				var all []store.Thread
				if err := s.Get(cmd.Context(), "/api/threads?"+q.Encode(), &all); err != nil {
					return err
				}
				if asJSON {
					return a.json(all)
				}
				if len(all) == 0 {
					a.printf("No threads. Begin one with `plexus run -C DIR \"task\"`.\n")
				}
				for _, t := range all {
					a.printf("%s  %-10s  %-16s  %s\n", t.ID, t.State, ago(t.Updated), clean(fit(t.Title, 60)))
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&archived, "archived", false, "list archived threads")
	return cmd
}

// ago is a time as people say it.
func ago(t time.Time) string {
	switch d := time.Since(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	}
	return t.Local().Format("2006-01-02 15:04")
}

// showPage is how many events are read at a time.
const showPage = 1000

func (a app) show() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show THREAD",
		Short:   "Show a thread",
		Example: "  plexus show t_k3j9x0\n  plexus show t_k3j9x0 --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), func(s *session) error {
				var t store.Thread
				if err := s.Get(cmd.Context(), "/api/threads/"+escape(args[0]), &t); err != nil {
					return err
				}
				var show func(store.Event)
				if asJSON {
					l := &lines{app: a}
					show = func(e store.Event) { l.update(store.Update{Event: &e}) }
				} else {
					show = a.transcript(s, t)
				}
				for after := int64(0); ; {
					var page struct{ Events []store.Event }
					if err := s.Get(cmd.Context(), fmt.Sprintf("/api/threads/%s/events?after=%d&limit=%d", t.ID, after, showPage), &page); err != nil {
						return err
					}
					for _, e := range page.Events {
						show(e)
						after = e.Seq
					}
					if len(page.Events) < showPage {
						return nil
					}
				}
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one event a line as JSON")
	return cmd
}

// transcript shows a recorded thread as it was seen when it ran.
func (a app) transcript(s *session, t store.Thread) func(store.Event) {
	sc := newScreen(a, s, t)
	told := map[string]bool{} // messages come again as more is known of their delivery
	return func(e store.Event) {
		switch e.Kind {
		case store.EventMessage:
			if m, ok := body[store.Message](&e); ok && m.Kind == store.MessageUser && !told[m.ID] {
				told[m.ID] = true
				sc.line(sc.bold("you  ") + clean(m.Text))
			}
		case store.EventTurn:
			row, ok := body[store.Turn](&e)
			if ok && row.Code == store.CodeRemoved {
				sc.line(sc.bold("you  ") + clean(row.Task) + sc.dim(" (taken back before it began)"))
				return
			}
			if end, done := sc.endOf(row); ok && done {
				sc.update(store.Update{Event: &e})
				sc.end(end)
				return
			}
		case store.EventAction:
			// What ran is told with how it ended: the two moments are one in a record.
			if act, ok := body[store.Action](&e); ok && act.State == store.ActionDone {
				sc.last = act.ID
				sc.line(sc.cyan("  $ ") + clean(fit(act.Title, sc.width-4)))
			} else {
				return
			}
		}
		sc.update(store.Update{Event: &e})
	}
}

// endOf words a final turn of the record.
func (s *screen) endOf(row store.Turn) (ending, bool) {
	return ending{Status: string(row.State), Code: row.Code, Reason: row.Reason}, row.State.Final()
}

func (a app) stop() *cobra.Command {
	return &cobra.Command{
		Use:     "stop THREAD",
		Short:   "Stop the turn that runs in a thread",
		Example: "  plexus stop t_k3j9x0",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.require(cmd.Context())
			if err != nil {
				return err
			}
			if err := c.Post(cmd.Context(), "/api/threads/"+escape(args[0])+"/stop", nil, nil); err != nil {
				return err
			}
			a.printf("Stopped. What was done so far stays.\n")
			return nil
		},
	}
}

// json prints v indented.
func (a app) json(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	a.printf("%s\n", data)
	return nil
}
