package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"plexus/internal/client"
	"plexus/internal/store"
)

// asker puts open approvals to the person at the terminal. The UI may answer first; then the question is withdrawn.
type asker struct {
	app    app
	client *session
	lines  chan string
	cancel context.CancelFunc // of the question being asked
	asking string
}

func newAsker(a app, s *session) *asker { return &asker{app: a, client: s} }

func (k *asker) close() {
	if k.cancel != nil {
		k.cancel()
	}
}

func (k *asker) update(ctx context.Context, u store.Update) {
	if u.Event == nil || u.Event.Kind != store.EventApproval {
		return
	}
	a, ok := body[store.Approval](u.Event)
	if !ok {
		return
	}
	switch {
	case a.State == "pending":
		k.show(a)
		if k.app.tty {
			k.ask(ctx, a)
		}
	case a.ID == k.asking:
		k.close()
		k.asking = ""
		k.app.printf("  %s by %s\n", a.State, a.By)
	}
}

func (k *asker) show(a store.Approval) {
	k.app.printf("\n  Approval needed: %s\n", clean(a.Title))
	if a.Dir != "" {
		k.app.printf("    in: %s\n", clean(a.Dir))
	}
	if a.Command != "" && a.Command != a.Title {
		k.app.printf("    %s\n", clean(strings.ReplaceAll(a.Command, "\n", "\n    ")))
	}
	for _, r := range a.Reasons {
		k.app.printf("    why: %s\n", clean(r))
	}
	if a.Boundary != "" {
		k.app.printf("    boundary: %s\n", clean(a.Boundary))
	}
	if a.Diff != "" {
		k.app.printf("%s\n", clean(a.Diff))
	}
	if !k.app.tty {
		k.app.printf("    Answer it in the UI, or with `plexus approve %s` or `plexus deny %s`.\n", a.ID, a.ID)
	}
}

// ask reads the answer beside the stream of updates, so that an answer from elsewhere is seen at once.
func (k *asker) ask(ctx context.Context, a store.Approval) {
	k.close()
	ctx, k.cancel = context.WithCancel(ctx)
	k.asking = a.ID
	k.app.printf("  [y] allow once  [a] always allow  [n] deny, or a reason for no: ")
	if k.lines == nil {
		k.lines = readLines(k.app)
	}
	lines := k.lines
	go func() { // ends with the question or the process; a read of a terminal cannot be taken back
		select {
		case <-ctx.Done():
		case line := <-lines:
			for unclear(line) && ctx.Err() == nil {
				k.app.printf("  y, a, n, or a reason for no: ")
				select {
				case <-ctx.Done():
				case line = <-lines:
				}
			}
			if err := k.send(ctx, a.ID, line); err != nil && ctx.Err() == nil {
				_, _ = fmt.Fprintln(k.app.err, "plexus: "+err.Error())
			}
		}
	}()
}

// unclear reports whether an answer is neither a choice nor a reason: one word more is not taken for a no.
func unclear(line string) bool {
	switch answer := strings.ToLower(strings.TrimSpace(line)); answer {
	case "y", "yes", "a", "always", "n", "no":
		return false
	default:
		return !strings.Contains(answer, " ")
	}
}

func (k *asker) send(ctx context.Context, id, line string) error {
	in := map[string]string{"decision": "deny"}
	switch answer := strings.TrimSpace(line); strings.ToLower(answer) {
	case "y", "yes":
		in["decision"] = "allow"
	case "a", "always":
		in["decision"] = "always"
	case "n", "no":
	default:
		in["reason"] = answer
	}
	err := k.client.Post(ctx, "/api/approvals/"+id, in, nil)
	var refused *client.Error
	if errors.As(err, &refused) && (refused.Code == "answered" || refused.Code == "gone") {
		return nil // somebody was faster, and the stream tells
	}
	return err
}

// readLines reads the terminal for as long as the process lives.
func readLines(a app) chan string {
	lines := make(chan string)
	go func() {
		in := bufio.NewScanner(a.in)
		for in.Scan() {
			lines <- in.Text()
		}
	}()
	return lines
}
