package loop

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"plexus/internal/plx"
	"plexus/internal/store"
)

const (
	maxAgentsFile = 16 << 10        // bytes of AGENTS.md that are read; plx cuts further
	branchBound   = 2 * time.Second // for asking git
)

// compose makes the user's message. The first that reaches a chat carries the prompt and the workspace.
func (t *turn) compose(ctx context.Context) (store.Message, error) {
	if t.turn.State == store.TurnQueued {
		err := t.move(ctx, store.TurnMove{From: []store.TurnState{store.TurnQueued}, To: store.TurnComposing})
		if errors.Is(err, store.ErrConflict) {
			return store.Message{}, errTaken
		}
		if err != nil {
			return store.Message{}, err
		}
	}
	first, err := t.isFirst(ctx)
	if err != nil {
		return store.Message{}, err
	}
	m := store.Message{Kind: store.MessageUser, Text: t.turn.Task}
	if first {
		m.Wire = plx.First(t.turn.Task, describe(ctx, t.folder))
	}
	return t.add(ctx, m)
}

// isFirst reports whether the model may not have the prompt yet: none was accepted, or the chat that had it is gone.
// Sending it twice does no harm; a chat without it never acts.
func (t *turn) isFirst(ctx context.Context) (bool, error) {
	arrived, err := t.l.cfg.Store.PromptArrived(ctx, t.turn.Thread)
	if err != nil || !arrived {
		return true, err
	}
	bound, err := t.l.cfg.Store.EverBound(ctx, t.turn.Thread)
	if err != nil || !bound {
		return false, err // a model without chats is told everything each time
	}
	_, current, err := t.l.cfg.Store.CurrentChat(ctx, t.turn.Thread)
	return !current, err
}

// describe tells the model where it works. What cannot be found out is left out.
func describe(ctx context.Context, f store.Folder) plx.Workspace {
	return plx.Workspace{
		Name:   f.Name,
		Path:   f.Path,
		OS:     runtime.GOOS,
		Shell:  os.Getenv("SHELL"),
		Branch: branch(ctx, f.Path),
		Agents: agents(f.Path),
	}
}

func branch(ctx context.Context, dir string) string {
	ctx, cancel := context.WithTimeout(ctx, branchBound)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "symbolic-ref", "--short", "--quiet", "HEAD").Output()
	if err != nil {
		return "" // no git, no repository, or a detached head
	}
	return strings.TrimSpace(string(out))
}

func agents(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat("AGENTS.md")
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := root.Open(filepath.Clean("AGENTS.md"))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, maxAgentsFile)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return ""
	}
	return strings.ToValidUTF8(string(head[:n]), "")
}
