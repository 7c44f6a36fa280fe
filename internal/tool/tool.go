// Package tool is the vocabulary of tool calls: what a tool is, who calls it,
// with what, and what comes back. Every door (a tag in a chat reply, the CLI,
// the UI, MCP) makes a Call; the engine turns it into a Result; providers
// (workspace, proc, browser) make Tools and know nothing but this package.
//
// A tool never learns through which door it was called.
package tool

import (
	"context"
	"encoding/json"
	"time"
)

// Class is what a tool can do to the user; the gate judges by it.
type Class string

const (
	ClassRead  Class = "read"  // changes nothing
	ClassWrite Class = "write" // changes files inside the folder
	ClassExec  Class = "exec"  // runs a command as the user
)

// Door is where a call came in.
type Door string

const (
	DoorChat Door = "chat" // a tag in a model's reply
	DoorCLI  Door = "cli"  // plexus tool
	DoorUI   Door = "ui"
	DoorMCP  Door = "mcp"
)

// Actor is who asks. Name is free text for the record ("chatgpt", "codex 1.2").
type Actor struct {
	Door Door   `json:"door"`
	Name string `json:"name,omitempty"`
}

// Folder is the approved root in which a call acts.
type Folder struct {
	ID   string `json:"id"`
	Name string `json:"name"` // virtual name, shown as /name
	Path string `json:"path"` // native absolute path
}

// Call is one request to run a tool.
type Call struct {
	ID     string          `json:"id"`               // unique; the key of its record, approval and spool file
	Thread string          `json:"thread,omitempty"` // owner; empty for a call from the command line
	Turn   string          `json:"turn,omitempty"`
	Round  int             `json:"round,omitempty"`
	N      int             `json:"n,omitempty"` // position in its round, from 1
	Folder Folder          `json:"folder"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
	Actor  Actor           `json:"actor"`
	Review bool            `json:"review,omitempty"` // the model itself asked for approval
	Level  string          `json:"level,omitempty"`  // a gate.Level that only makes the folder's stricter, except from a person's CLI
}

// Status is the outcome that the model is told.
type Status string

const (
	StatusOK          Status = "ok"
	StatusError       Status = "error"
	StatusDenied      Status = "denied"
	StatusTimeout     Status = "timeout"
	StatusInterrupted Status = "interrupted"
	StatusDropped     Status = "dropped"
)

// Outcome is the class kept in the record. Only OutcomeFailed is a defect of Plexus.
type Outcome string

const (
	OutcomeOK          Outcome = "ok"
	OutcomeExitNonzero Outcome = "exit_nonzero"
	OutcomeRejected    Outcome = "rejected" // bad input, refused path, denied, timed out, stopped
	OutcomeFailed      Outcome = "failed"
)

// Result is what a call came to. Text is bounded by the tool; the sizes are
// those of the whole output.
//
// A command's Text is "$ " and the command, the output, notes in brackets and, as its last line, how it ended. Its spool
// file has the lines of Text in their places up to the end of the output. When Text leaves out some of the output, Lines is the lines
// of the Text that would leave out nothing, without the first and the last: so the last line of Text is line Lines+2, and a line near
// its end has the number that it has in the spool file. For a command of one line without notes, that is the lines of the output.
type Result struct {
	Status    Status   `json:"status"`
	Outcome   Outcome  `json:"outcome"`
	Code      string   `json:"code,omitempty"`      // stable name of a refusal, as in Error
	Text      string   `json:"text"`                // what the model reads
	Exit      *int     `json:"exit,omitempty"`      // commands only
	Signal    string   `json:"signal,omitempty"`    // "KILL"; commands only
	Lines     int64    `json:"lines,omitempty"`     // of the full output, as above; 0 when Text is all of it
	Bytes     int64    `json:"bytes,omitempty"`     // of the full output, 0 when Text is all of it
	Spool     string   `json:"spool,omitempty"`     // file whose lines are those of the full Text; may be set when Text is whole, for a door that cuts it further
	Path      string   `json:"path,omitempty"`      // the file read, as the caller spelled it; for "how to see the rest"
	FirstLine int      `json:"firstLine,omitempty"` // line number of Text's first line in Path
	Changes   []Change `json:"changes,omitempty"`
	Duration  Millis   `json:"ms"` // set by the engine
}

// Millis is a duration in whole milliseconds on the wire.
type Millis int64

// Since returns the time since start.
func Since(start time.Time) Millis { return Millis(time.Since(start).Milliseconds()) }

// Change is one file that a call changed.
type Change struct {
	Path    string `json:"path"` // relative to the folder, slashes
	Op      string `json:"op"`   // create, modify, delete
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Diff    string `json:"diff,omitempty"` // unified, at most 64 KiB, else "" with Cut
	Cut     bool   `json:"cut,omitempty"`
}

// Subject is what the gate judges and what a person is shown before saying yes.
// Making it does no I/O.
type Subject struct {
	Title   string   `json:"title"`             // one line: the command, or "write README.md"
	Command string   `json:"command,omitempty"` // exec: the command, verbatim
	Dir     string   `json:"dir,omitempty"`     // exec: cwd relative to the folder, "" for the folder
	Paths   []string `json:"paths,omitempty"`   // read and write: as the caller spelled them
}

// Env is what the engine gives a running tool. It must not be kept after Run returns.
type Env struct {
	Call   Call
	Spool  string         // path of this call's spool file; its directory exists, the tool creates it when it needs it (0600)
	Output func(p []byte) // live output for whoever watches; never nil, never blocks for long, p is not retained
}

// Info is what a door may know of a tool.
type Info struct {
	Name   string          `json:"name"`
	Doc    string          `json:"doc"` // written for a model: short, exact
	Class  Class           `json:"class"`
	Schema json.RawMessage `json:"schema"` // JSON schema of the input
	// Timeout bounds Run; zero means the engine's default. A tool may be
	// given a longer one by its input (run): then Deadline says it.
	Timeout time.Duration `json:"-"`
}

// Tool is an Info with its function. Providers make it with New; only the
// engine may run it.
type Tool struct {
	Info
	// Subject never fails: input has been validated.
	Subject func(input json.RawMessage) Subject
	// Preview returns the unified diff that the call would make, "" for none.
	// It is only called when a person is asked. May be nil.
	Preview func(ctx context.Context, env Env, input json.RawMessage) (string, error)
	// Deadline returns the time limit that input asks for, or zero. May be nil.
	Deadline func(input json.RawMessage) time.Duration
	// Validate returns an *Error naming the argument that is unknown, missing, of a wrong type or out of range.
	Validate func(input json.RawMessage) error
	// Run does it. An *Error is the caller's fault and becomes a result with
	// status error; any other error is ours.
	Run func(ctx context.Context, env Env, input json.RawMessage) (Result, error)
}

// Error is a refusal or a failure that the caller can do something about.
// Text says what happened and what to do; it never names a path that the
// caller did not spell.
type Error struct {
	Code string // stable, kebab-case: "outside-folder", "not-found", "bad-input" ...
	Text string
}

func (e *Error) Error() string { return e.Text }
