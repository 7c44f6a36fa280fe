package store

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"
)

const (
	maxIndexed = 64 << 10 // bytes of one text that can be found
	maxTerms   = 16       // words of a query that count
	maxHits    = 200
)

// Hit is a place where a search found something.
type Hit struct {
	Thread  string `json:"thread"`
	Title   string `json:"title"` // the thread's
	Turn    string `json:"turn,omitempty"`
	Snippet string `json:"snippet"` // plain text around the first match
	Seq     int64  `json:"seq"`     // of the event
}

// index makes the text of an event findable: what people and models wrote.
func (t *tx) index(e Event) {
	if e.Kind != EventNote && e.Kind != EventAnswer {
		return
	}
	var body struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(e.Body, &body) == nil { // else not of its kind's shape: nothing to find
		t.indexText(e.ID, body.Text)
	}
}

// eventText is what an event is found by.
type eventText struct {
	event int64
	text  string
}

func (t *tx) indexText(event int64, text string) {
	if strings.TrimSpace(text) != "" {
		t.texts = append(t.texts, eventText{event: event, text: head(text, maxIndexed)})
	}
}

func (t *tx) saveTexts() error {
	for _, x := range t.texts {
		if _, err := t.exec("INSERT INTO search (rowid, text) VALUES (?, ?)", x.event, x.text); err != nil {
			return err
		}
	}
	return nil
}

// Search finds user messages, answers, notes and commands that have all words
// of the query, the last of which may be a beginning; the best first, at most limit
// (200 when 0 or more). Any text is a valid query; one without words finds nothing. Threads in
// the bin are left out.
func (s *Store) Search(ctx context.Context, query string, limit int) ([]Hit, error) {
	match := matchQuery(query)
	if match == "" {
		return []Hit{}, nil
	}
	if limit <= 0 || limit > maxHits {
		limit = maxHits
	}
	hits, err := list(ctx, s, scanHit, `SELECT e.thread, t.title, e.turn, snippet(search, 0, '', '', '…', 24), e.seq
		FROM search JOIN events AS e ON e.id = search.rowid JOIN threads AS t ON t.id = e.thread
		WHERE search MATCH ? AND t.deleted IS NULL AND t.doomed = 0
		ORDER BY rank, e.id DESC LIMIT ?`, match, limit)
	return hits, s.fail("search", "", err)
}

func scanHit(row scanner) (Hit, error) {
	var h Hit
	err := row.Scan(&h.Thread, &h.Title, &h.Turn, &h.Snippet, &h.Seq)
	return h, err
}

// matchQuery turns what a person typed into FTS5's language: each word quoted,
// so that nothing in it is an operator.
func matchQuery(query string) string {
	var terms []string
	for _, word := range strings.Fields(strings.ReplaceAll(clean(query), "\x00", " ")) {
		if !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			continue
		}
		terms = append(terms, `"`+strings.ReplaceAll(head(word, 256), `"`, `""`)+`"`)
		if len(terms) == maxTerms {
			break
		}
	}
	if len(terms) == 0 {
		return ""
	}
	return strings.Join(terms, " ") + "*"
}
