package practice

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
)

//go:embed shell.html
var shellSource string

// shell is the document of every page: what is there before the app has started.
type shell struct{ html []byte }

// boot is what the client side reads from its document.
type boot struct {
	HydrationMs int64  `json:"hydrationMs"`
	RedirectMs  int64  `json:"redirectMs"`
	PasteLimit  int    `json:"pasteLimit"`
	Stop        string `json:"stop"`
	Picker      string `json:"picker"`
}

func newShell(files fs.FS, cfg Config) (*shell, error) {
	if _, err := fs.Stat(files, "main.js"); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("its client side is not built; run \"go run ./web/bundle\"")
	}
	t, err := template.New("shell").Parse(shellSource)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	b, err := json.Marshal(boot{
		HydrationMs: cfg.Page.Hydration.Milliseconds(), RedirectMs: cfg.Page.Redirect.Milliseconds(),
		PasteLimit: cfg.PasteLimit, Stop: cfg.Page.Stop, Picker: cfg.Page.Picker,
	})
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, template.JS(b)); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return &shell{html: out.Bytes()}, nil
}

const pagePolicy = "default-src 'self'; connect-src 'self' wss://" + SocketHost + "; style-src 'self' 'unsafe-inline'; " +
	"img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'self'"

// servePage answers every address that the app has a view for.
func (s *Site) servePage(w http.ResponseWriter, r *http.Request) {
	e := Entry{Kind: KindPage, Path: r.URL.Path, Conversation: r.PathValue("id"), Project: projectRef(r.PathValue("project"))}
	if q := r.URL.Query(); q.Has("prompt-textarea") {
		e.Kind, e.Text = KindPrefill, q.Get("prompt-textarea")
	}
	s.journal.add(e)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	w.Write(s.page.html)
}
