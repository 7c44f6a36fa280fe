package server

import (
	"net/http"
	"strings"

	"plexus/web"
)

// files serves the web UI. Every path without a file is a page of the app, which reads its own address.
func (s *Server) files() http.Handler {
	ui := http.FileServerFS(web.UI())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.refuse(w, failure{Status: http.StatusMethodNotAllowed, Code: "method", Text: "Only GET works here."})
			return
		}
		// The files change with the binary and have stable names.
		w.Header().Set("Cache-Control", "no-cache")
		if !strings.Contains(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ".") {
			r.URL.Path = "/"
		}
		ui.ServeHTTP(w, r)
	})
}
