package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plexus/internal/tool"
)

// bench is a folder "project" with tools, beside a folder with a secret.
type bench struct {
	t       testing.TB
	folder  tool.Folder
	outside string
	tools   map[string]tool.Tool
}

func newBench(t testing.TB) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, folder: tool.Folder{Name: "project", Path: filepath.Join(base, "project")}, outside: filepath.Join(base, "outside"), tools: map[string]tool.Tool{}}
	for _, dir := range []string{b.folder.Path, b.outside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(b.outside, "secret"), []byte("SECRET"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tl := range Tools(Options{}) {
		b.tools[tl.Name] = tl
	}
	return b
}

// file writes a file into the folder.
func (b *bench) file(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.folder.Path, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// link makes a symbolic link in the folder.
func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.folder.Path, name)); err != nil {
		b.t.Fatal(err)
	}
}

// content returns what a file in the folder holds, "<none>" when there is none.
func (b *bench) content(name string) string {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.folder.Path, name))
	if errors.Is(err, os.ErrNotExist) {
		return "<none>"
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return string(got)
}

// args are the arguments of a call.
type args = map[string]any

// call validates and runs a tool as the engine does.
func (b *bench) call(name string, in args) (tool.Result, error) {
	b.t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.tools[name].Validate(input); err != nil {
		return tool.Result{}, err
	}
	return b.tools[name].Run(context.Background(), tool.Env{Call: tool.Call{Folder: b.folder, Tool: name}}, input)
}

// ok calls a tool that must work and returns its text.
func (b *bench) ok(name string, in args) string {
	b.t.Helper()
	result, err := b.call(name, in)
	if err != nil {
		b.t.Fatalf("%s %v: %v", name, in, err)
	}
	if result.Status != tool.StatusOK || result.Outcome != tool.OutcomeOK {
		b.t.Fatalf("%s %v: %s, %s", name, in, result.Status, result.Outcome)
	}
	return result.Text
}

// fails calls a tool that must refuse with a code and returns the message.
func (b *bench) fails(code, name string, in args) string {
	b.t.Helper()
	result, err := b.call(name, in)
	var refused *tool.Error
	if !errors.As(err, &refused) {
		b.t.Fatalf("%s %v: got %q, %v, want an *Error", name, in, result.Text, err)
	}
	if refused.Code != code {
		b.t.Fatalf("%s %v: code %s (%s), want %s", name, in, refused.Code, refused.Text, code)
	}
	return refused.Text
}

func (b *bench) has(text string, parts ...string) {
	b.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			b.t.Errorf("%q is not in:\n%.2000s", part, text)
		}
	}
}

func TestToolsAreComplete(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"read", "list", "search", "write"} {
		tl := b.tools[name]
		if tl.Doc == "" || tl.Class == "" || tl.Timeout == 0 || !json.Valid(tl.Schema) {
			t.Errorf("%s: %+v", name, tl.Info)
		}
	}
	input := json.RawMessage(`{"path":"a.txt","content":"x","mode":"append"}`)
	if got := b.tools["write"].Subject(input); got.Title != "append to a.txt" || len(got.Paths) != 1 {
		t.Errorf("Subject = %+v", got)
	}
}

func TestFolderGone(t *testing.T) {
	b := newBench(t)
	if err := os.RemoveAll(b.folder.Path); err != nil {
		t.Fatal(err)
	}
	text := b.fails("folder-gone", "read", args{"path": "a"})
	b.has(text, "/project")
	if strings.Contains(text, b.folder.Path) {
		t.Errorf("the message names a path that nobody spelled: %s", text)
	}
	b.fails("folder-gone", "list", args{})
	b.fails("folder-gone", "search", args{"query": "x"})
	b.fails("folder-gone", "write", args{"path": "a", "content": "x"})

	if err := os.WriteFile(b.folder.Path, nil, 0o644); err != nil { // a file in its place
		t.Fatal(err)
	}
	b.fails("folder-gone", "list", args{})
}

func TestFolderGoneWhileOpen(t *testing.T) {
	b := newBench(t)
	d, err := Open(b.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := os.RemoveAll(b.folder.Path); err != nil {
		t.Fatal(err)
	}
	_, err = d.existing("a")
	var refused *tool.Error
	if !errors.As(err, &refused) || refused.Code != "folder-gone" {
		t.Errorf("existing = %v, want folder-gone", err)
	}
}
