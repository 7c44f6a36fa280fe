package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Handlers are the functions of a tool whose input is an In. Run and Subject
// are required; the others may be nil.
type Handlers[In any] struct {
	// Adjust changes the schema made from In before anything uses it, for
	// bounds that are only known at run time.
	Adjust func(*jsonschema.Schema)
	// Check is asked after the schema was satisfied, for what a schema cannot
	// say ("path or paths"). It does no I/O and returns an *Error.
	Check func(In) error

	Subject  func(In) Subject
	Preview  func(ctx context.Context, env Env, in In) (string, error)
	Deadline func(In) time.Duration
	Run      func(ctx context.Context, env Env, in In) (Result, error)
}

// New makes a Tool from a typed input. In is a struct with json tags: a field
// without omitempty is required, a jsonschema tag is its description for the
// model, a bounds tag its limits (see schemaOf). Info.Schema is made here.
//
// The schema is the only authority: what it does not allow never reaches a
// handler. New panics when In cannot be described or a required handler is
// missing, which is a mistake in the program and shows in any test.
func New[In any](info Info, h Handlers[In]) Tool {
	if h.Run == nil || h.Subject == nil {
		panic(fmt.Sprintf("tool %q: Run and Subject are required", info.Name))
	}
	schema, err := schemaOf[In](h.Adjust)
	if err != nil {
		panic(fmt.Sprintf("tool %q: %v", info.Name, err))
	}
	if info.Schema, err = json.Marshal(schema); err != nil {
		panic(fmt.Sprintf("tool %q: encode schema: %v", info.Name, err))
	}
	d := definition[In]{name: info.Name, schema: schema, Handlers: h}
	t := Tool{Info: info, Validate: d.validate, Subject: d.subject, Run: d.run}
	if h.Preview != nil {
		t.Preview = d.preview
	}
	if h.Deadline != nil {
		t.Deadline = d.deadline
	}
	return t
}

// definition joins the untyped functions of a Tool to the typed handlers.
type definition[In any] struct {
	Handlers[In]
	name   string
	schema *jsonschema.Schema
}

func (d definition[In]) validate(input json.RawMessage) error {
	if err := checkInput(d.name, d.schema, input); err != nil {
		return err
	}
	in, err := d.decode(input)
	if err != nil {
		return err
	}
	if d.Check != nil {
		return d.Check(in)
	}
	return nil
}

func (d definition[In]) decode(input json.RawMessage) (in In, err error) {
	if err := json.Unmarshal(input, &in); err != nil {
		return in, Errorf("bad-input", "%s: the arguments do not fit: %v", d.name, err)
	}
	return in, nil
}

func (d definition[In]) subject(input json.RawMessage) Subject {
	in, err := d.decode(input)
	if err != nil {
		return Subject{Title: d.name}
	}
	return d.Subject(in)
}

func (d definition[In]) preview(ctx context.Context, env Env, input json.RawMessage) (string, error) {
	in, err := d.decode(input)
	if err != nil {
		return "", err
	}
	return d.Preview(ctx, env, in)
}

func (d definition[In]) deadline(input json.RawMessage) time.Duration {
	in, err := d.decode(input)
	if err != nil {
		return 0
	}
	return d.Deadline(in)
}

func (d definition[In]) run(ctx context.Context, env Env, input json.RawMessage) (Result, error) {
	in, err := d.decode(input)
	if err != nil {
		return Result{}, err
	}
	return d.Run(ctx, env, in)
}

// Errorf makes an *Error.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...)}
}
