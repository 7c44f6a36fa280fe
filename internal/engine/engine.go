// Package engine is the one way to run a tool. Whatever door a call came
// through, Do looks the tool up, checks the input, writes the call down, asks the
// gate (and through it, a person), runs the tool within its time, and writes down
// what came of it: intent before effect, outcome after.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"plexus/internal/gate"
	"plexus/internal/store"
	"plexus/internal/tool"
)

// ErrStopped is the cause with which a context is cancelled when a person stops
// the turn that a call belongs to. The call's result is then interrupted. A
// context that ends for any other reason means that the daemon is ending.
var ErrStopped = errors.New("stopped by the user")

// Decisions that an action records.
const (
	DecisionFree     = "free"      // nothing to ask at this level
	DecisionReadOnly = "read-only" // proved to change nothing
	DecisionAllowed  = "allowed"   // by a person, for this call
	DecisionAlways   = "always"    // by a rule that a person made
	DecisionDenied   = "denied"    // by a person
)

// Codes of results that the engine itself makes.
const (
	CodeUnknownTool   = "unknown-tool"
	CodeUnknownFolder = "unknown-folder"
	CodeFolderGone    = "folder-gone"
	CodeBadInput      = "bad-input"
	CodeBadLevel      = "bad-level"
	CodeTimeout       = "timeout"
	CodeStopped       = "stopped"
	CodeDenied        = "denied"
	CodeDiskFull      = "disk-full"
	CodeInternal      = "internal"
	CodeRestarted     = "restarted"
)

// Bounds.
const (
	defaultTimeout = 2 * time.Minute
	stopGrace      = 10 * time.Second // for a tool to end after its context did
	recordTime     = 10 * time.Second // for writing an outcome when the caller is gone
	maxInput       = 16 << 20
	maxText        = 1 << 20 // of a result; a tool that says more is cut here
)

// Config says what an engine works with. All fields are required.
type Config struct {
	Store *store.Store
	Gate  *gate.Gate
	Tools []tool.Tool
	Spool string // directory of the full outputs; made when missing
	Home  string // where Plexus keeps its own files, which calls are asked about; "" for nowhere
	Log   *slog.Logger
}

// Engine runs calls. It is safe for concurrent use; whether calls run beside
// each other is their caller's decision.
type Engine struct {
	store *store.Store
	gate  *gate.Gate
	tools map[string]tool.Tool
	spool string
	home  string
	log   *slog.Logger
	grace time.Duration // stopGrace

	mu      sync.Mutex
	running map[string]bool  // calls that this process works on
	lives   map[string]*live // by call; while it runs
}

// Live returns the newest output of the thread's running calls, for a follower that comes late; what is published later
// goes on from it.
func (e *Engine) Live(thread string) []store.Live {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []store.Live
	for _, l := range e.lives {
		if l.base.Thread == thread {
			if piece := l.soFar(); piece.Text != "" {
				all = append(all, piece)
			}
		}
	}
	return all
}

// watch sets what Live returns of a call; nil ends it.
func (e *Engine) watch(call string, l *live) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l == nil {
		delete(e.lives, call)
		return
	}
	e.lives[call] = l
}

// New checks the tools and makes the spool directory.
func New(c Config) (*Engine, error) {
	e := &Engine{store: c.Store, gate: c.Gate, tools: map[string]tool.Tool{}, spool: c.Spool, home: c.Home, log: c.Log, grace: stopGrace, running: map[string]bool{}, lives: map[string]*live{}}
	for _, t := range c.Tools {
		if t.Name == "" || t.Run == nil || t.Validate == nil || t.Subject == nil {
			return nil, fmt.Errorf("tool %q: Name, Run, Validate and Subject are required", t.Name)
		}
		if _, twice := e.tools[t.Name]; twice {
			return nil, fmt.Errorf("tool %q is there twice", t.Name)
		}
		e.tools[t.Name] = t
	}
	if err := os.MkdirAll(c.Spool, 0o700); err != nil {
		return nil, fmt.Errorf("make spool directory %q: %w", c.Spool, err)
	}
	return e, nil
}

// Tools returns what there is, by name.
func (e *Engine) Tools() []tool.Info {
	infos := make([]tool.Info, 0, len(e.tools))
	for _, name := range slices.Sorted(maps.Keys(e.tools)) {
		infos = append(infos, e.tools[name].Info)
	}
	return infos
}

// SpoolFile is where the full output of a call is kept, if it has one.
func (e *Engine) SpoolFile(call string) string {
	return filepath.Join(e.spool, filepath.Base(call)+".txt")
}

// order is a call that was found fit to be judged.
type order struct {
	call    tool.Call
	tool    tool.Tool
	level   gate.Level
	subject tool.Subject
	verdict gate.Verdict
}

// Judge tells what would be decided about a call, without recording or doing
// anything. A call that is refused before (unknown tool, bad input, a folder
// that is not approved or gone) gives a *tool.Error; other errors are the store's.
func (e *Engine) Judge(ctx context.Context, call tool.Call) (gate.Verdict, error) {
	o, err := e.prepare(ctx, call)
	return o.verdict, err
}

// prepare looks up and checks all that a call needs. A *tool.Error is the
// caller's fault; with it, the order has what is known so far.
func (e *Engine) prepare(ctx context.Context, call tool.Call) (order, error) {
	o := order{call: call, subject: tool.Subject{Title: title(call.Tool)}}
	folder, err := e.folder(ctx, call.Folder)
	if err != nil {
		return o, err
	}
	o.call.Folder = tool.Folder{ID: folder.ID, Name: folder.Name, Path: folder.Path}
	if o.tool, err = e.tool(call.Tool); err != nil {
		return o, err
	}
	if err := e.validate(o.tool, call.Input); err != nil {
		return o, err
	}
	if o.subject, err = e.subject(o.tool, call.Input); err != nil {
		return o, err
	}
	if o.level, err = e.level(ctx, call, folder); err != nil {
		return o, err
	}
	if err := present(folder); err != nil {
		return o, err
	}
	rules, err := e.store.Rules(ctx, folder.ID)
	if err != nil {
		return o, fmt.Errorf("read the rules of folder %s: %w", folder.Name, err)
	}
	o.verdict = gate.Judge(gate.Question{Level: o.level, Class: o.tool.Class, Subject: o.subject, Review: call.Review, Folder: folder.Path, Home: e.home, Rules: rules})
	return o, nil
}

// folder finds the approved folder of a call. What the store says of it counts,
// not what the caller says.
func (e *Engine) folder(ctx context.Context, f tool.Folder) (store.Folder, error) {
	ref := f.ID
	if ref == "" {
		ref = f.Path
	}
	found, err := e.store.Folder(ctx, ref)
	switch {
	case errors.Is(err, store.ErrNotFound) || ref == "":
		return store.Folder{}, tool.Errorf(CodeUnknownFolder, "This folder is not approved, so nothing can be read or run in it. Approve it first (plexus folders add DIR, or in the UI).")
	case err != nil:
		return store.Folder{}, fmt.Errorf("read folder %s: %w", ref, err)
	}
	return found, nil
}

func (e *Engine) tool(name string) (tool.Tool, error) {
	t, ok := e.tools[name]
	if !ok {
		return t, tool.Errorf(CodeUnknownTool, "There is no tool %q. There are: %s.", title(name), strings.Join(slices.Sorted(maps.Keys(e.tools)), ", "))
	}
	return t, nil
}

func (e *Engine) validate(t tool.Tool, input json.RawMessage) error {
	if len(input) > maxInput {
		return tool.Errorf(CodeBadInput, "%s: the input has %d bytes; at most %d are taken. Split it up.", t.Name, len(input), maxInput)
	}
	if len(input) > 0 && !json.Valid(input) {
		return tool.Errorf(CodeBadInput, "%s: the input is not valid JSON.", t.Name)
	}
	var err error
	if died := e.contain(t.Name, "validate", func() { err = t.Validate(input) }); died != nil {
		return died
	}
	var fault *tool.Error
	if err != nil && !errors.As(err, &fault) {
		return tool.Errorf(CodeBadInput, "%s: %v", t.Name, err)
	}
	return err
}

func (e *Engine) subject(t tool.Tool, input json.RawMessage) (s tool.Subject, err error) {
	s.Title = t.Name
	if died := e.contain(t.Name, "subject", func() { s = t.Subject(input) }); died != nil {
		return s, died
	}
	s.Title = title(s.Title)
	return s, nil
}

// title makes one short line.
func title(s string) string {
	if len(s) > 2000 {
		s = s[:2000]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	return s
}

// level is the strictest of the folder's, the thread's and the call's. A person
// at the command line may choose another for one call.
func (e *Engine) level(ctx context.Context, call tool.Call, folder store.Folder) (gate.Level, error) {
	own := gate.Level("")
	if call.Level != "" {
		l, err := gate.ParseLevel(call.Level)
		if err != nil {
			return "", tool.Errorf(CodeBadLevel, "%v", err)
		}
		if own = l; call.Actor.Door == tool.DoorCLI {
			return l, nil
		}
	}
	level := gate.Level(folder.Level)
	if level == "" {
		level = gate.AutoReview
	}
	if call.Thread != "" {
		t, err := e.store.Thread(ctx, call.Thread)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", fmt.Errorf("read thread %s: %w", call.Thread, err)
		}
		level = gate.Stricter(level, gate.Level(t.Level))
	}
	return gate.Stricter(level, own), nil
}

// present refuses a folder that vanished since it was approved.
func present(f store.Folder) error {
	info, err := os.Stat(f.Path)
	if err != nil || !info.IsDir() {
		return tool.Errorf(CodeFolderGone, "The folder /%s is not there any more (moved, deleted or not mounted). Nothing was done. Put it back, or approve its new place.", f.Name)
	}
	// What was approved is this place, not what a link that stands here now points to.
	if real, err := filepath.EvalSymlinks(f.Path); err != nil || real != f.Path {
		return tool.Errorf(CodeFolderGone, "The folder /%s was replaced by a link to another place. Nothing was done. Approve that place if you mean it.", f.Name)
	}
	return nil
}

var validID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// begin marks a call as worked on by this process.
func (e *Engine) begin(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running[id] {
		return fmt.Errorf("call %s is running already: %w", id, store.ErrConflict)
	}
	e.running[id] = true
	return nil
}

func (e *Engine) end(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.running, id)
}
