package store

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTitleFromFirstTask(t *testing.T) {
	long := strings.Repeat("é", 200)
	rows := []struct{ task, want string }{
		{"fix the bug", "fix the bug"},
		{"\n\n  fix\tthe   bug \r\nand more", "fix the bug"},
		{"", ""},
		{" \n\t\n", ""},
		{"bad \xff byte", "bad \uFFFD byte"},
		{long, strings.Repeat("é", 79) + "…"},
		{strings.Repeat("x", 80), strings.Repeat("x", 80)},
	}
	s := open(t)
	for _, row := range rows {
		th := newThread(t, s)
		must(s.EnqueueTurn(t.Context(), th.ID, row.task))
		must(s.EnqueueTurn(t.Context(), th.ID, "second"))
		got := must(s.Thread(t.Context(), th.ID)).Title
		want := row.want
		if want == "" {
			want = "second" // the first that has a line
		}
		if got != want || utf8.RuneCountInString(got) > titleLength {
			t.Errorf("%.20q gives %q, want %q", row.task, got, want)
		}
	}
	named := must(s.CreateThread(t.Context(), Thread{Title: "mine"}))
	must(s.EnqueueTurn(t.Context(), named.ID, "other"))
	if got := must(s.Thread(t.Context(), named.ID)).Title; got != "mine" {
		t.Error("a given title was replaced by", got)
	}
}

func TestThreadByPrefix(t *testing.T) {
	s := open(t)
	for _, id := range []string{"t_abcdefghijkl", "t_abcxxxxxxxxx", "t_zz%_yyyyyyyy", "t_q"} {
		must(s.CreateThread(t.Context(), Thread{ID: id}))
	}
	rows := []struct {
		ref, id string
		err     error
	}{
		{"t_abcdefghijkl", "t_abcdefghijkl", nil},
		{"t_abcd", "t_abcdefghijkl", nil},
		{"abcd", "t_abcdefghijkl", nil},
		{"abc", "", ErrConflict},
		{"t_", "", ErrConflict},
		{"", "", ErrNotFound},
		{"%", "", ErrNotFound},
		{"_", "", ErrNotFound},
		{"zz%", "t_zz%_yyyyyyyy", nil},
		{"t_qq", "", ErrNotFound},
		{"T_ABCD", "", ErrNotFound},
		{"' OR 1=1 --", "", ErrNotFound},
	}
	for _, row := range rows {
		th, err := s.Thread(t.Context(), row.ref)
		if row.err != nil {
			wantIs(t, err, row.err)
		} else if err != nil || th.ID != row.id {
			t.Errorf("%q gives %q, %v", row.ref, th.ID, err)
		}
	}
}

func TestThreadsFilterAndOrder(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	a := must(s.AddFolder(ctx, Folder{Path: "/a"}))
	b := must(s.AddFolder(ctx, Folder{Path: "/b"}))
	make := func(f Folder, title string) Thread {
		return must(s.CreateThread(ctx, Thread{Folder: f.ID, Title: title}))
	}
	one, two, three := make(a, "one 100%"), make(b, "two_x"), make(a, "THREE")
	gone, old := make(a, "gone"), make(a, "old")
	must(s.UpdateThread(ctx, gone.ID, ThreadPatch{Deleted: ptr(true)}))
	must(s.UpdateThread(ctx, old.ID, ThreadPatch{Archived: ptr(true)}))
	must(s.UpdateThread(ctx, two.ID, ThreadPatch{Pinned: ptr(true)}))
	must(s.Append(ctx, one.ID, "", EventNotice, Notice{})) // now the newest
	rows := []struct {
		name   string
		filter ThreadFilter
		want   []string
	}{
		{"all", ThreadFilter{}, []string{two.ID, one.ID, three.ID}},
		{"folder", ThreadFilter{Folder: a.ID}, []string{one.ID, three.ID}},
		{"unknown folder", ThreadFilter{Folder: "f_x"}, nil},
		{"archived", ThreadFilter{Archived: true}, []string{old.ID}},
		{"bin", ThreadFilter{Deleted: true}, []string{gone.ID}},
		{"title in any case", ThreadFilter{Query: "three"}, []string{three.ID}},
		{"a percent sign is no wildcard", ThreadFilter{Query: "%"}, []string{one.ID}},
		{"nor is an underscore", ThreadFilter{Query: "_"}, []string{two.ID}},
		{"nor is a backslash", ThreadFilter{Query: `\`}, nil},
		{"limit", ThreadFilter{Limit: 1}, []string{two.ID}},
		{"negative limit", ThreadFilter{Limit: -1}, []string{two.ID, one.ID, three.ID}},
	}
	for _, row := range rows {
		var got []string
		for _, th := range must(s.Threads(ctx, row.filter)) {
			got = append(got, th.ID)
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestUpdateThread(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	got := must(s.UpdateThread(ctx, th.ID, ThreadPatch{Title: ptr("x\xff"), Model: ptr("api"), Level: ptr("manual"), Pinned: ptr(true)}))
	want := th
	want.Title, want.Model, want.Level, want.Pinned, want.LastSeq, want.ReadSeq = "x\uFFFD", "api", "manual", true, 2, 2
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(got, must(s.Thread(ctx, th.ID))); diff != "" {
		t.Fatal("returned and kept differ:", diff)
	}
	if same := must(s.UpdateThread(ctx, th.ID, ThreadPatch{Pinned: ptr(true)})); same.LastSeq != 2 {
		t.Fatal("an event for nothing")
	}
	_, err := s.UpdateThread(ctx, "t_unknown", ThreadPatch{Pinned: ptr(true)})
	wantIs(t, err, ErrNotFound)
	_, err = s.CreateThread(ctx, Thread{ID: th.ID})
	wantIs(t, err, ErrConflict)
	_, err = s.CreateThread(ctx, Thread{Folder: "f_unknown"})
	wantIs(t, err, ErrNotFound)
}

// TestUnread: what others do makes a thread unread, what a person does to the
// thread does not, and reading makes no event.
func TestUnread(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	must(s.Append(ctx, th.ID, "", EventNotice, Notice{}))
	if th = must(s.Thread(ctx, th.ID)); th.ReadSeq != 1 || th.LastSeq != 2 {
		t.Fatal(th)
	}
	if th = must(s.UpdateThread(ctx, th.ID, ThreadPatch{Pinned: ptr(true)})); th.ReadSeq != 1 || th.LastSeq != 3 {
		t.Fatal("a change read what was unread:", th)
	}
	for _, row := range []struct{ set, want int64 }{{2, 2}, {1, 2}, {99, 3}, {-5, 3}} {
		if th = must(s.UpdateThread(ctx, th.ID, ThreadPatch{ReadSeq: &row.set})); th.ReadSeq != row.want || th.LastSeq != 3 {
			t.Fatalf("after reading to %d: %+v", row.set, th)
		}
	}
	if th = must(s.UpdateThread(ctx, th.ID, ThreadPatch{Title: ptr("x")})); th.ReadSeq != th.LastSeq {
		t.Fatal("a change of its own made it unread:", th)
	}
}

func TestFolders(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	a := must(s.AddFolder(ctx, Folder{Path: "/x/app", Level: "full"}))
	if a.Name != "app" || a.ID == "" || a.Created.IsZero() {
		t.Fatalf("%+v", a)
	}
	if again := must(s.AddFolder(ctx, Folder{Path: "/x/app", Level: "manual", Name: "other"})); again != a {
		t.Fatalf("the same path gave %+v", again)
	}
	if b := must(s.AddFolder(ctx, Folder{Path: "/y/app"})); b.Name != "app-2" {
		t.Fatal(b.Name)
	}
	if c := must(s.AddFolder(ctx, Folder{Path: "/z", Name: "app"})); c.Name != "app-3" {
		t.Fatal(c.Name)
	}
	if c := must(s.AddFolder(ctx, Folder{Path: "/s", Name: `a/b\c`})); c.Name != "a-b-c" {
		t.Fatal(c.Name)
	}
	for _, ref := range []string{a.ID, "app", "/x/app"} {
		if got := must(s.Folder(ctx, ref)); got != a {
			t.Errorf("%q gives %+v", ref, got)
		}
	}
	if got := must(s.SetFolderLevel(ctx, a.ID, "manual")); got.Level != "manual" {
		t.Fatal(got)
	}
	_, err := s.AddFolder(ctx, Folder{})
	if err == nil {
		t.Fatal("a folder without a path")
	}
	for _, ref := range []string{"", "nope", a.ID + "x"} {
		_, err := s.Folder(ctx, ref)
		wantIs(t, err, ErrNotFound)
	}
	_, err = s.SetFolderLevel(ctx, "f_unknown", "full")
	wantIs(t, err, ErrNotFound)
}

func TestRemoveFolder(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	f := must(s.AddFolder(ctx, Folder{Path: "/x/app", Level: "full"}))
	th := must(s.CreateThread(ctx, Thread{Folder: f.ID, Title: "kept"}))
	must(s.AddRule(ctx, Rule{Folder: f.ID, Kind: "exact", Pattern: "make"}))
	if err := s.RemoveFolder(ctx, f.ID); err != nil {
		t.Fatal(err)
	}
	wantIs(t, s.RemoveFolder(ctx, f.ID), ErrNotFound)
	_, err := s.Folder(ctx, f.ID)
	wantIs(t, err, ErrNotFound)
	if got := must(s.Thread(ctx, th.ID)); !got.Archived || got.Folder != f.ID || got.LastSeq != 2 {
		t.Fatalf("%+v", got)
	}
	other := must(s.AddFolder(ctx, Folder{Path: "/y/app"})) // the name is free again
	if other.Name != "app" {
		t.Fatal(other.Name)
	}
	back := must(s.AddFolder(ctx, Folder{Path: "/x/app", Level: "manual"}))
	if back.ID != f.ID || back.Level != "manual" || back.Name != "app-2" {
		t.Fatalf("%+v", back)
	}
	if rules := must(s.Rules(ctx, f.ID)); len(rules) != 0 {
		t.Fatal("old rules came back:", rules)
	}
}
