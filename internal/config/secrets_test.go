package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openSecrets(t *testing.T) (*Secrets, Paths) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("PLEXUS_HOME", home)
	p, err := DefaultPaths()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Create(); err != nil {
		t.Fatal(err)
	}
	return OpenSecrets(t.Context(), p), p
}

func TestSecretsFile(t *testing.T) {
	s, p := openSecrets(t)
	ctx := t.Context()
	if _, err := s.Get(ctx, SecretAPIKey); !errors.Is(err, ErrNoSecret) {
		t.Errorf("an unset secret gave %v", err)
	}
	if err := s.Set(ctx, SecretAPIKey, "sk-1"); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Get(ctx, SecretAPIKey); err != nil || v.Reveal() != "sk-1" {
		t.Errorf("Get = %v, %v", v, err)
	}
	info, err := os.Stat(p.SecretsFile())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v; want 0600", info.Mode(), err)
	}
	dir, err := os.Stat(p.Run)
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("its folder has mode %v, %v; want 0700", dir.Mode(), err)
	}
	if err := s.Delete(ctx, SecretAPIKey); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, SecretAPIKey); err != nil {
		t.Errorf("deleting twice: %v", err)
	}
	if _, err := s.Get(ctx, SecretAPIKey); !errors.Is(err, ErrNoSecret) {
		t.Errorf("after Delete: %v", err)
	}
}

func TestSecretsRefusals(t *testing.T) {
	s, p := openSecrets(t)
	if err := s.Set(t.Context(), "other", "x"); !errors.Is(err, ErrUnknownSecret) {
		t.Errorf("an unknown name gave %v", err)
	}
	for _, bad := range []Secret{"", "sk-1\nsk-2", "sk\x00", "sk\t"} {
		if err := s.Set(t.Context(), SecretAPIKey, bad); !errors.Is(err, ErrBadSecret) {
			t.Errorf("%q gave %v", bad.Reveal(), err)
		}
	}
	if err := s.Set(t.Context(), SecretAPIKey, Secret(strings.Repeat("x", maxSecret+1))); err == nil {
		t.Error("a huge value was kept")
	}
	if err := os.WriteFile(p.SecretsFile(), []byte(`{"model.api.key":"sk-hidden`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(t.Context(), SecretAPIKey)
	if err == nil || strings.Contains(err.Error(), "sk-hidden") {
		t.Errorf("a damaged file gave %v; want an error that shows no value", err)
	}
}

func TestSecretNeverShows(t *testing.T) {
	v := Secret("sk-hidden")
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", slog.Any("key", v), slog.Any("in", struct{ K Secret }{v}))
	data, err := json.Marshal(map[string]Secret{"k": v})
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"%v": fmt.Sprintf("%v", v), "String": v.String(), "%q": fmt.Sprintf("%q", v), "%#v": fmt.Sprintf("%#v", v),
		"%+v": fmt.Sprintf("%+v", struct{ K Secret }{v}), "json": string(data), "slog": log.String(),
	} {
		if strings.Contains(text, "hidden") {
			t.Errorf("%s shows the secret: %s", what, text)
		}
	}
}

func TestWritePrivateLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"one", "two"} {
		if err := WritePrivate(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want the file alone", entries, err)
	}
}

func TestReadState(t *testing.T) {
	p := At(t.TempDir())
	if err := p.Create(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadState(p); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("no file gave %v", err)
	}
	for _, damaged := range []string{"", "{", `{"port":0,"token":"x"}`, `{"port":1}`, "null"} {
		if err := os.WriteFile(p.State(), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadState(p); !errors.Is(err, ErrNoDaemon) {
			t.Errorf("%q gave %v, want ErrNoDaemon", damaged, err)
		}
	}
	want := State{Port: 8765, PID: 1, Version: "x", Token: "t"}
	if err := WriteState(p, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadState(p); err != nil || got != want {
		t.Errorf("ReadState = %+v, %v", got, err)
	}
}
