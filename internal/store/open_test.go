package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestOpenPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are inherited there")
	}
	s := open(t)
	newThread(t, s)
	must2(t)(s.PutAsset(t.Context(), strings.NewReader("x")))
	err := filepath.WalkDir(filepath.Dir(s.path), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has rights %o, want %o", d.Name(), info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func must2(t testing.TB) func(string, int64, error) string {
	return func(hash string, _ int64, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
}

func TestOpenTightensRights(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("rights are inherited there")
	}
	path := filepath.Join(t.TempDir(), "plexus.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
}

func TestOpenAwkwardPath(t *testing.T) {
	for _, name := range []string{"with space", "a?b=c&d", "#hash", "100%25", "é世界", "semi;colon", "'quote", `"double`, "[x]", "plus+"} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.ContainsAny(name, `?"`) {
				t.Skip("not a file name there")
			}
			dir := filepath.Join(t.TempDir(), name)
			path := filepath.Join(dir, name+".db")
			s := openAt(t, path)
			th := newThread(t, s)
			s.Close()
			if info, err := os.Stat(path); err != nil || info.Size() == 0 {
				t.Fatal("the database is elsewhere:", err)
			}
			must(openAt(t, path).Thread(t.Context(), th.ID))
		})
	}
}

func TestReopenKeepsAll(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	e := must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{Code: "x"}))
	s.Close()
	s = openAt(t, s.path)
	if s.Aside() != "" {
		t.Fatal("set aside")
	}
	if last := must(s.LastEventID(t.Context())); last != e.ID {
		t.Fatalf("last event %d, want %d", last, e.ID)
	}
	if next := must(s.Append(t.Context(), th.ID, "", EventNotice, Notice{})); next.Seq != e.Seq+1 || next.ID != e.ID+1 {
		t.Fatalf("%+v after %+v", next, e)
	}
}

func TestClosed(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	s.Close()
	if err := s.Close(); err != nil {
		t.Fatal("second close:", err)
	}
	_, err := s.Thread(t.Context(), th.ID)
	wantIs(t, err, ErrClosed)
	_, err = s.Append(t.Context(), th.ID, "", EventNotice, Notice{})
	wantIs(t, err, ErrClosed)
	for _, err := range s.Follow(t.Context(), FollowFrom{}) {
		wantIs(t, err, ErrClosed)
	}
}

func TestWriteWithEndedContext(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	reason := errors.New("told to")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	_, err := s.Append(ctx, th.ID, "", EventNotice, Notice{})
	wantIs(t, err, reason)
	if got := must(s.Events(t.Context(), th.ID, th.LastSeq, 0)); len(got) != 0 {
		t.Fatal("written all the same:", got)
	}
}

func TestOpenNewer(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	s.Close()
	edit(t, s.path, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1))
	before, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Path: s.path})
	wantIs(t, err, ErrNewer)
	for _, word := range []string{"newer version of Plexus", fmt.Sprint(len(migrations) + 1), s.path} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	after, err := os.ReadFile(s.path)
	if err != nil || !bytes.Equal(before, after) {
		t.Fatal("the file was changed", err)
	}
	edit(t, s.path, fmt.Sprintf("PRAGMA user_version = %d", len(migrations)))
	must(openAt(t, s.path).Thread(t.Context(), th.ID))
}

// edit runs SQL on a database that no store has open.
func edit(t testing.TB, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", dataSource(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

func TestOpenCorrupt(t *testing.T) {
	rows := []struct {
		name   string
		damage func(t *testing.T, path string)
	}{
		{"text", func(t *testing.T, path string) {
			overwrite(t, path, 0, []byte(strings.Repeat("this is no database\n", 500)))
		}},
		{"one byte", func(t *testing.T, path string) { replace(t, path, []byte("x")) }},
		{"header only", func(t *testing.T, path string) { cut(t, path, 100) }},
		{"cut in half", func(t *testing.T, path string) { cut(t, path, -2) }},
		{"zeros in the schema", func(t *testing.T, path string) { overwrite(t, path, 100, make([]byte, 3996)) }},
		{"noise in the middle", func(t *testing.T, path string) {
			for page := int64(2); page < 30; page++ {
				overwrite(t, path, page*4096, bytes.Repeat([]byte{0xA5, 0x5A}, 512))
			}
		}},
		{"garbage with a write-ahead log", func(t *testing.T, path string) {
			replace(t, path, []byte("garbage"))
			replace(t, path+"-wal", []byte("log"))
			replace(t, path+"-shm", []byte("index"))
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s := open(t)
			th := newThread(t, s)
			fill(t, s, th.ID, 300)
			s.Close()
			row.damage(t, s.path)
			damaged := snapshot(t, s.path)

			s = openAt(t, s.path)
			aside := s.Aside()
			if !regexp.MustCompile(`plexus\.db\.corrupt-\d{8}-\d{6}$`).MatchString(aside) {
				t.Fatalf("aside is %q", aside)
			}
			for suffix, want := range damaged {
				got, err := os.ReadFile(aside + suffix)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%q was not kept as it was: %d bytes of %d, %v", suffix, len(got), len(want), err)
				}
			}
			th = newThread(t, s) // and it works
			s.Close()
			s = openAt(t, s.path)
			must(s.Thread(t.Context(), th.ID))
			if s.Aside() != "" {
				t.Fatal("set aside again")
			}
		})
	}
}

func TestAsideNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plexus.db")
	names := map[string]bool{}
	for i := range 3 {
		replace(t, path, fmt.Appendf(nil, "damage %d", i))
		s := openAt(t, path)
		s.Close()
		names[s.Aside()] = true
		if got, err := os.ReadFile(s.Aside()); err != nil || string(got) != fmt.Sprintf("damage %d", i) {
			t.Fatal(string(got), err)
		}
	}
	if len(names) != 3 {
		t.Fatal(names)
	}
}

// TestDamageSeenWhileRunning: a large database is not checked whole at a start, but
// is after damage was met.
func TestDamageSeenWhileRunning(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	const events = 600
	err := s.write(t.Context(), "fill", th.ID, func(t *tx) error {
		for i := range events {
			if _, err := t.appendRow(th.ID, "", EventNotice, Notice{Code: fmt.Sprintf("number %d", i), Text: strings.Repeat("x", 10<<10)}); err != nil {
				return err
			}
		}
		return nil
	})
	wantIs(t, err, nil)
	s.Close()
	data, err := os.ReadFile(s.path)
	at := bytes.Index(data, []byte(`"number 300"`)) // the beginning of a row
	if err != nil || len(data) <= checkLimit || at < 0 {
		t.Fatal("not as this test needs it", len(data), at, err)
	}
	overwrite(t, s.path, int64(at/4096*4096), bytes.Repeat([]byte{0xA5}, 512))
	s = openAt(t, s.path)
	if s.Aside() != "" {
		t.Fatal("it was checked whole")
	}
	var seen error
	for after := int64(0); seen == nil && after < events; after += 100 {
		_, seen = s.Events(t.Context(), th.ID, after, 100)
	}
	wantIs(t, seen, ErrCorrupt)
	s.Close()
	if s = openAt(t, s.path); s.Aside() == "" {
		t.Fatal("not set aside")
	}
	if _, err := os.Stat(s.path + suspectMark); err == nil {
		t.Fatal("the mark stayed")
	}
}

// TestSuspectMarkOfASoundFile: the mark makes one check and goes.
func TestSuspectMarkOfASoundFile(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	s.Close()
	replace(t, s.path+suspectMark, nil)
	s = openAt(t, s.path)
	must(s.Thread(t.Context(), th.ID))
	if _, err := os.Stat(s.path + suspectMark); err == nil {
		t.Fatal("the mark stayed")
	}
}

func TestOpenWhereADirectoryIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plexus.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: path}); err == nil {
		t.Fatal("no error")
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		t.Fatal("the directory was touched", err)
	}
}

func snapshot(t *testing.T, path string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} { // -shm is scratch that SQLite rebuilds
		if data, err := os.ReadFile(path + suffix); err == nil {
			files[suffix] = data
		}
	}
	return files
}

func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(data, at); err != nil {
		t.Fatal(err)
	}
}

// cut truncates to size bytes, or to a part of what there is when it is negative.
func cut(t *testing.T, path string, size int64) {
	t.Helper()
	if size < 0 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size = info.Size() / -size
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}
