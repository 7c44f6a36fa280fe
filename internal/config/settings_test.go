package config

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plexus/internal/store"
)

func openSettings(t *testing.T) (*Settings, *store.Store) {
	t.Helper()
	dir := t.TempDir()
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "plexus.db"), Assets: filepath.Join(dir, "assets")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return NewSettings(st), st
}

func TestDeclarations(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Declarations() {
		if seen[d.Key] {
			t.Errorf("%s is declared twice", d.Key)
		}
		seen[d.Key] = true
		if d.Doc == "" || d.Section == "" {
			t.Errorf("%s lacks a sentence or a section", d.Key)
		}
		if err := d.check(d.Default); err != nil {
			t.Errorf("%s does not accept its own default: %v", d.Key, err)
		}
	}
}

func TestSetBounds(t *testing.T) {
	s, _ := openSettings(t)
	tests := []struct {
		key, value string
		ok         bool
	}{
		{KeyModel, "api", true},
		{KeyModel, "  api  ", true}, // surrounding space is not part of a value
		{KeyModel, "gpt", false},
		{KeyModel, "", false},
		{KeyMessageLimit, "2000", true},
		{KeyMessageLimit, "500000", true},
		{KeyMessageLimit, "1999", false},
		{KeyMessageLimit, "500001", false},
		{KeyMessageLimit, "24k", false},
		{KeyMessageLimit, "1e4", false},
		{KeyMessageLimit, "99999999999999999999", false},
		{KeyWatchdog, "90s", true},
		{KeyWatchdog, "9s", false},
		{KeyWatchdog, "5", false},
		{KeyConsentChatGPT, "true", true},
		{KeyConsentChatGPT, "yes", false},
		{KeyAPIURL, "http://localhost:11434/v1", true},
		{KeyAPIURL, "", true},
		{KeyAPIURL, "a\nb", false},
		{KeyAPIURL, "a\x00b", false},
		{KeyAPIURL, strings.Repeat("a", 4096), true},
		{KeyAPIURL, strings.Repeat("a", 4097), false},
	}
	for _, tt := range tests {
		_, err := s.Set(t.Context(), tt.key, tt.value)
		var invalid *Invalid
		if (err == nil) != tt.ok || (err != nil && !errors.As(err, &invalid)) {
			t.Errorf("Set(%s, %.40q) = %v, want ok=%v", tt.key, tt.value, err, tt.ok)
		}
	}
	if _, err := s.Set(t.Context(), "no.such", "1"); !errors.Is(err, ErrUnknownSetting) {
		t.Errorf("an unknown key gave %v", err)
	}
}

func TestSetKeepsAndResets(t *testing.T) {
	s, _ := openSettings(t)
	if got := s.Int(t.Context(), KeyResultLimit); got != 6000 {
		t.Errorf("default is %d, want 6000", got)
	}
	if _, err := s.Set(t.Context(), KeyResultLimit, "700"); err != nil {
		t.Fatal(err)
	}
	if got := s.Int(t.Context(), KeyResultLimit); got != 700 {
		t.Errorf("after Set it is %d, want 700", got)
	}
	if _, err := s.Set(t.Context(), KeyResultLimit, "1"); err == nil {
		t.Error("a bad value was accepted")
	}
	if got := s.Int(t.Context(), KeyResultLimit); got != 700 {
		t.Errorf("a refused value changed it to %d", got)
	}
	v, err := s.Reset(t.Context(), KeyResultLimit)
	if err != nil || v.Value != "6000" || v.Set {
		t.Errorf("Reset = %+v, %v", v, err)
	}
}

// A value that a newer or older version kept and this one does not accept must not stop anything.
func TestStoredNonsenseIsDefault(t *testing.T) {
	s, st := openSettings(t)
	if err := st.SetSetting(t.Context(), KeyWatchdog, "soon"); err != nil {
		t.Fatal(err)
	}
	v, err := s.Get(t.Context(), KeyWatchdog)
	if err != nil || v.Set || v.Value != "5m" {
		t.Errorf("Get = %+v, %v; want the default", v, err)
	}
}

type brokenBacking struct{}

func (brokenBacking) Setting(context.Context, string) (string, bool, error) {
	return "", false, errors.New("no disk")
}
func (brokenBacking) SetSetting(context.Context, string, string) error { return errors.New("no disk") }
func (brokenBacking) DeleteSetting(context.Context, string) error      { return errors.New("no disk") }

func TestBrokenBackingGivesDefaults(t *testing.T) {
	s := NewSettings(brokenBacking{})
	if got := s.Text(t.Context(), KeyModel); got != "chat" {
		t.Errorf("Text = %q, want the default", got)
	}
	if _, err := s.Set(t.Context(), KeyModel, "api"); err == nil {
		t.Error("a value that could not be kept was reported as kept")
	}
}

func TestDeclarationsAreACopy(t *testing.T) {
	Declarations()[0].Key = "changed"
	if slices.ContainsFunc(Declarations(), func(d Declaration) bool { return d.Key == "changed" }) {
		t.Error("a caller could change the declarations")
	}
}
