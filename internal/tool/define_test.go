package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

type sampleInput struct {
	Path  string   `json:"path" jsonschema:"the file" bounds:"min=1,max=10"`
	Start int      `json:"start,omitempty" bounds:"min=1,max=100,default=1"`
	Mode  string   `json:"mode,omitempty" bounds:"enum=create|append,default=create"`
	Ratio float64  `json:"ratio,omitempty" bounds:"min=0"`
	Case  *bool    `json:"case,omitempty"`
	More  []string `json:"more,omitempty" bounds:"min=1,max=2"`
}

func sample() Tool {
	return New(Info{Name: "sample", Class: ClassRead}, Handlers[sampleInput]{
		Adjust: func(s *jsonschema.Schema) { s.Properties["ratio"].Maximum = new(float64(2)) },
		Check: func(in sampleInput) error {
			if in.Path == "bad" {
				return Errorf("bad-input", "sample: no.")
			}
			return nil
		},
		Subject:  func(in sampleInput) Subject { return Subject{Title: "sample " + in.Path} },
		Deadline: func(in sampleInput) time.Duration { return time.Duration(in.Start) * time.Second },
		Run: func(_ context.Context, _ Env, in sampleInput) (Result, error) {
			return Result{Text: in.Path}, nil
		},
	})
}

func TestValidateNamesEveryMistake(t *testing.T) {
	tests := []struct {
		name, input string
		want        []string // parts of the message; none when the input is right
	}{
		{"least", `{"path":"a"}`, nil},
		{"all", `{"path":"a","start":100,"mode":"append","ratio":0.5,"case":false,"more":["x"]}`, nil},
		{"null is absent", `{"path":"a","start":null,"case":null,"more":null}`, nil},
		{"space around", " \n{ \"path\" : \"a\" , \"start\" : 7 }\t", nil},
		{"ten characters, thirty bytes", `{"path":"€€€€€€€€€€"}`, nil},
		{"number above integer range of bounds", `{"path":"a","ratio":2}`, nil},
		{"missing", `{}`, []string{`"path" is missing`}},
		{"null is missing", `{"path":null}`, []string{`"path" is missing`}},
		{"empty", `{"path":""}`, []string{`"path" must not be empty`}},
		{"too long", `{"path":"12345678901"}`, []string{`"path" must have at most 10 characters, not 11`}},
		{"unknown", `{"path":"a","pth":1}`, []string{`"pth" is unknown (known: path, start, mode, ratio, case, more)`}},
		{"other case is unknown", `{"Path":"a"}`, []string{`"Path" is unknown`, `"path" is missing`}},
		{"number for string", `{"path":7}`, []string{`"path" must be a string, not a number`}},
		{"string for integer", `{"path":"a","start":"7"}`, []string{`"start" must be a whole number, not a string`}},
		{"fraction", `{"path":"a","start":1.5}`, []string{`"start" must be a whole number, not 1.5`}},
		{"exponent", `{"path":"a","start":1e400}`, []string{`"start" must be a whole number, not 1e400`}},
		{"beyond int64", `{"path":"a","start":99999999999999999999}`, []string{`"start" must be a whole number`}},
		{"below", `{"path":"a","start":0}`, []string{`"start" must be at least 1, not 0`}},
		{"above", `{"path":"a","start":101}`, []string{`"start" must be at most 100, not 101`}},
		{"above an adjusted bound", `{"path":"a","ratio":2.5}`, []string{`"ratio" must be at most 2, not 2.5`}},
		{"float range", `{"path":"a","ratio":1e999}`, []string{`"ratio" is out of range: 1e999`}},
		{"enum", `{"path":"a","mode":"x"}`, []string{`"mode" must be one of create, append, not "x"`}},
		{"boolean", `{"path":"a","case":"yes"}`, []string{`"case" must be a boolean, not a string`}},
		{"array", `{"path":"a","more":"x"}`, []string{`"more" must be an array, not a string`}},
		{"array too short", `{"path":"a","more":[]}`, []string{`"more" must have at least 1 items, not 0`}},
		{"array too long", `{"path":"a","more":["x","y","z"]}`, []string{`"more" must have at most 2 items, not 3`}},
		{"array item", `{"path":"a","more":["x",{}]}`, []string{`item 2 of "more" must be a string, not an object`}},
		{"several", `{"x":1,"start":true}`, []string{`"x" is unknown`, `"start" must be a whole number, not a boolean`, `"path" is missing`}},
		{"check", `{"path":"bad"}`, []string{"sample: no."}},
		{"not an object", `[1]`, []string{"must be a JSON object"}},
		{"null", `null`, []string{"must be a JSON object"}},
		{"nothing", ``, []string{"must be a JSON object"}},
		{"cut", `{"path":"a"`, []string{"not valid JSON"}},
		{"two values", `{"path":"a"}{}`, []string{"not valid JSON"}},
		{"invalid UTF-8", "{\"path\":\"\xff\"}", []string{"not valid UTF-8"}},
		{"long unknown key", `{"path":"a","` + strings.Repeat("k", 5000) + `":1}`, []string{`k…" is unknown`}},
	}
	tool := sample()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := tool.Validate(json.RawMessage(test.input))
			if len(test.want) == 0 {
				if err != nil {
					t.Fatalf("Validate(%s) = %v, want nil", test.input, err)
				}
				return
			}
			var bad *Error
			if !errors.As(err, &bad) || bad.Code != "bad-input" {
				t.Fatalf("Validate(%s) = %v, want an *Error with code bad-input", test.input, err)
			}
			for _, part := range test.want {
				if !strings.Contains(bad.Text, part) {
					t.Errorf("message %q does not contain %q", bad.Text, part)
				}
			}
			if len(bad.Text) > 4000 {
				t.Errorf("message has %d bytes", len(bad.Text))
			}
		})
	}
}

func TestManyMistakesAreBounded(t *testing.T) {
	args := map[string]int{}
	for i := range 1000 {
		args[strings.Repeat("k", i+1)] = i
	}
	input, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	if got := sample().Validate(input).Error(); len(got) > 5000 || !strings.Contains(got, "and more") {
		t.Errorf("message of %d bytes: %.200s", len(got), got)
	}
}

func TestSchemaCarriesBounds(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal(sample().Schema, &got); err != nil {
		t.Fatal(err)
	}
	properties := got["properties"].(map[string]any)
	want := map[string]any{
		"path":  map[string]any{"type": "string", "description": "the file", "minLength": 1.0, "maxLength": 10.0},
		"start": map[string]any{"type": "integer", "minimum": 1.0, "maximum": 100.0, "default": 1.0},
		"mode":  map[string]any{"type": "string", "enum": []any{"create", "append"}, "default": "create"},
		"ratio": map[string]any{"type": "number", "minimum": 0.0, "maximum": 2.0},
		"case":  map[string]any{"type": []any{"null", "boolean"}},
	}
	for name, w := range want {
		if diff := cmp.Diff(w, properties[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff([]any{"path"}, got["required"]); diff != "" {
		t.Errorf("required (-want +got):\n%s", diff)
	}
}

func TestHandlersGetTheTypedInput(t *testing.T) {
	tool, input := sample(), json.RawMessage(`{"path":"a","start":7}`)
	if got := tool.Subject(input).Title; got != "sample a" {
		t.Errorf("Subject = %q", got)
	}
	if got := tool.Deadline(input); got != 7*time.Second {
		t.Errorf("Deadline = %v", got)
	}
	if got, err := tool.Run(t.Context(), Env{}, input); err != nil || got.Text != "a" {
		t.Errorf("Run = %+v, %v", got, err)
	}
	if tool.Preview != nil {
		t.Error("Preview is set without a handler")
	}
	var bad *Error
	if _, err := tool.Run(t.Context(), Env{}, json.RawMessage(`{"path":7}`)); !errors.As(err, &bad) {
		t.Errorf("Run without Validate on a wrong type = %v, want an *Error", err)
	}
}

func TestNewRefusesAMistake(t *testing.T) {
	run := func(context.Context, Env, string) (Result, error) { return Result{}, nil }
	defer func() {
		if recover() == nil {
			t.Error("New of an input that is no struct did not panic")
		}
	}()
	New(Info{Name: "x"}, Handlers[string]{Run: run, Subject: func(string) Subject { return Subject{} }})
}

func FuzzValidate(f *testing.F) {
	for _, seed := range []string{`{"path":"a"}`, `{"path":"\ud800"}`, `{"start":-0}`, `{"more":[[[]]]}`, `{"path":"a","path":1}`} {
		f.Add([]byte(seed))
	}
	tool := sample()
	f.Fuzz(func(t *testing.T, input []byte) {
		err := tool.Validate(input)
		var bad *Error
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("Validate(%q) = %T", input, err)
		}
		if _, runErr := tool.Run(t.Context(), Env{}, input); err == nil && runErr != nil {
			t.Fatalf("Validate accepts %q, Run does not: %v", input, runErr)
		}
	})
}
