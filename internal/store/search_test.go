package store

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSearch(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	u := must(s.EnqueueTurn(ctx, th.ID, "Parser work"))
	must(s.AddMessage(ctx, Message{Thread: th.ID, Turn: u.ID, Kind: MessageUser, Text: "Please fix the Überlauf in parser.go", Wire: "hiddenwire"}))
	must(s.Append(ctx, th.ID, u.ID, EventNote, Note{Text: "looking at the tokenizer"}))
	must(s.AddAction(ctx, Action{Thread: th.ID, Turn: u.ID, Tool: "run", Title: "go test", Input: json.RawMessage(`{"command":"go test -run Lexer ./..."}`)}))
	must(s.AddMessage(ctx, Message{Thread: th.ID, Turn: u.ID, Kind: MessageResults, Text: "silentresult"}))
	answer := must(s.Append(ctx, th.ID, u.ID, EventAnswer, Answer{Text: strings.Repeat("word ", 100) + "The needle is here " + strings.Repeat("word ", 100)}))
	rows := []struct {
		query string
		hits  int
	}{
		{"fix", 1}, {"FIX parser", 1}, {"uberlauf", 1}, {"tokenizer", 1}, {"token", 1}, {"lexer", 1}, {"needle", 1},
		{"parser.go", 1}, {"needle missing", 0}, {"eedle", 0}, {"hiddenwire", 0}, {"silentresult", 0}, {"notice", 0}, {"", 0}, {" ", 0},
	}
	for _, row := range rows {
		if hits := must(s.Search(ctx, row.query, 0)); len(hits) != row.hits {
			t.Errorf("%q: %d hits, want %d: %+v", row.query, len(hits), row.hits, hits)
		}
	}
	hit := must(s.Search(ctx, "needle", 1))[0]
	if hit.Thread != th.ID || hit.Title != "Parser work" || hit.Turn != u.ID || hit.Seq != answer.Seq ||
		!strings.Contains(hit.Snippet, "needle is here") || len(hit.Snippet) > 300 {
		t.Fatalf("%+v", hit)
	}
	must(s.UpdateThread(ctx, th.ID, ThreadPatch{Deleted: ptr(true)}))
	if hits := must(s.Search(ctx, "needle", 0)); len(hits) != 0 {
		t.Fatal("found in the bin:", hits)
	}
}

var hostileQueries = []string{
	`"`, `""`, `"""`, `a"b`, `*`, `a*`, `*a`, `^a`, `a AND`, `AND`, `OR OR`, `NOT`, `NEAR(a b, 5)`, `NEAR(`, `text:a`, `{text}: a`, `-a`, `a - b`, `+a`,
	`(`, `)`, `()`, `a)(`, `'`, `''; DROP TABLE search; --`, `\`, `%`, `_`, "\x00", "a\x00b", "\xff\xfe", "a\xffb", "\u2028", "👩‍👩‍👧", "世界", "é", ":", ";",
	`!!!`, `a,b`, `[a]`, `{`, `}`, `rank`, `search`, `rowid:1`, strings.Repeat("a ", 5000), strings.Repeat("x", 1<<16), strings.Repeat(`"`, 999),
	strings.Repeat("(", 3000), strings.Repeat("世", 3000), "\u0301", "a\u0301", "１２", "²", "ⅷ", "_a_", "…",
}

func TestHostileQueries(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	must(s.Append(t.Context(), th.ID, "", EventNote, Note{Text: "a b text"}))
	for _, q := range hostileQueries {
		if hits, err := s.Search(t.Context(), q, 10); err != nil || hits == nil {
			t.Errorf("%.40q: %v %v", q, hits, err)
		}
		if _, err := s.Threads(t.Context(), ThreadFilter{Query: q}); err != nil {
			t.Errorf("threads with %.40q: %v", q, err)
		}
	}
}

// FuzzSearch: any text is a query.
func FuzzSearch(f *testing.F) {
	for _, q := range hostileQueries {
		f.Add(q)
	}
	s := open(f)
	th := newThread(f, s)
	must(s.Append(f.Context(), th.ID, "", EventNote, Note{Text: "a b text"}))
	f.Fuzz(func(t *testing.T, q string) {
		if _, err := s.Search(t.Context(), q, 10); err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		if m := matchQuery(q); !utf8.ValidString(m) || strings.Count(m, `"`)%2 != 0 {
			t.Fatalf("%q becomes %q", q, m)
		}
	})
}

func TestSettings(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	if v, ok, err := s.Setting(ctx, "a.b"); v != "" || ok || err != nil {
		t.Fatal(v, ok, err)
	}
	for _, v := range []string{"1", "", "two\nlines 世界 \x00"} {
		wantIs(t, s.SetSetting(ctx, "a.b", v), nil)
		if got, ok, err := s.Setting(ctx, "a.b"); got != v || !ok || err != nil {
			t.Fatalf("%q: %q %v %v", v, got, ok, err)
		}
	}
	wantIs(t, s.SetSetting(ctx, "c", "3"), nil)
	if all := must(s.Settings(ctx)); len(all) != 2 || all["c"] != "3" {
		t.Fatal(all)
	}
	wantIs(t, s.DeleteSetting(ctx, "c"), nil)
	wantIs(t, s.DeleteSetting(ctx, "c"), nil)
	if _, ok, _ := s.Setting(ctx, "c"); ok {
		t.Fatal("still set")
	}
}

func TestBrowsers(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	a := must(s.SaveBrowser(ctx, Browser{ID: "b1", Label: "Chrome", Token: []byte{0, 1, 255}}))
	b := must(s.SaveBrowser(ctx, Browser{ID: "b2"}))
	again := must(s.SaveBrowser(ctx, Browser{ID: "b1", Label: "Chromium", Version: "2", Token: []byte{9}}))
	if !again.Created.Equal(a.Created) || again.Label != "Chromium" || !slices.Equal(again.Token, []byte{9}) || again.LastSeen.Before(b.LastSeen) {
		t.Fatalf("%+v", again)
	}
	if all := must(s.Browsers(ctx)); len(all) != 2 || all[0].ID != "b1" {
		t.Fatalf("%+v", all)
	}
	if !must(s.TouchBrowser(ctx, Browser{ID: "b1", Label: "Chromium 9", Version: "3", Token: []byte{9}})) {
		t.Fatal("a known browser was not found")
	}
	if got := must(s.Browser(ctx, "b1")); got.Label != "Chromium 9" || got.Version != "3" || !slices.Equal(got.Token, []byte{9}) || !got.Created.Equal(a.Created) || got.LastSeen.Before(again.LastSeen) {
		t.Fatalf("%+v", got)
	}
	if must(s.TouchBrowser(ctx, Browser{ID: "b1", Label: "Another", Token: []byte{0, 1, 255}})) || must(s.Browser(ctx, "b1")).Label != "Chromium 9" {
		t.Fatal("an earlier token was taken")
	}
	wantIs(t, s.RemoveBrowser(ctx, "b1"), nil)
	if must(s.TouchBrowser(ctx, Browser{ID: "b1", Token: []byte{9}})) {
		t.Fatal("a removed browser was found")
	}
	wantIs(t, s.RemoveBrowser(ctx, "b1"), ErrNotFound)
	_, err := s.Browser(ctx, "b1")
	wantIs(t, err, ErrNotFound)
	if got := must(s.Browser(ctx, "b2")); got.Created.IsZero() || got.LastSeen.IsZero() {
		t.Fatalf("%+v", got)
	}
}
