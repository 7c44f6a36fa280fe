package ui_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"
)

// bundleTests builds the TypeScript tests; their sources need no npm package.
func bundleTests(t *testing.T) []byte {
	t.Helper()
	res := api.Build(api.BuildOptions{
		EntryPoints: []string{"test/all.ts"},
		Bundle:      true,
		Format:      api.FormatESModule,
		Target:      api.ES2024,
		LogLevel:    api.LogLevelSilent,
	})
	if len(res.Errors) > 0 {
		t.Fatal(strings.Join(api.FormatMessages(res.Errors, api.FormatMessagesOptions{}), ""))
	}
	return res.OutputFiles[0].Contents
}

// TestPure runs the tests of test/ in the browser: reducers, decoders and readers.
func TestPure(t *testing.T) {
	script := bundleTests(t)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<!doctype html><meta charset="utf-8"><title>tests</title><script type="module" src="tests.js"></script>`))
		case "/tests.js":
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = w.Write(script)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	b := newTab(t)
	b.do(chromedp.Navigate(srv.URL))
	b.until(`globalThis.report !== undefined`)
	report := js[struct {
		Passed int `json:"passed"`
		Failed []struct {
			Name  string `json:"name"`
			Error string `json:"error"`
		} `json:"failed"`
	}](b, `globalThis.report`)
	for _, f := range report.Failed {
		t.Errorf("%s: %s", f.Name, f.Error)
	}
	if report.Passed < 60 {
		t.Errorf("only %d tests passed: are some missing from test/all.ts?", report.Passed)
	}
}
