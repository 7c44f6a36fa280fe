package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"plexus/internal/tool"
)

type searchInput struct {
	Query  string `json:"query,omitempty" jsonschema:"what to look for in one line" bounds:"max=4096"`
	Path   string `json:"path,omitempty" jsonschema:"file or folder to search in" bounds:"max=4096,default=."`
	Glob   string `json:"glob,omitempty" jsonschema:"only these files: *.go or src/**/*.ts; !*.md for all but these" bounds:"max=1024"`
	Mode   string `json:"mode,omitempty" jsonschema:"search in content or in file names" bounds:"enum=content|name,default=content"`
	Case   *bool  `json:"case,omitempty" jsonschema:"whether upper and lower case differ" bounds:"default=true"`
	Regexp bool   `json:"regexp,omitempty" jsonschema:"query is a regular expression (RE2), not plain text" bounds:"default=false"`
}

func searchTool(o Options) tool.Tool {
	return tool.New(tool.Info{
		Name: "search",
		Doc: "Search file contents or names in the folder. Git-ignored, binary and large files, dependencies and build folders are left out unless path names them; " +
			"the last line says what was. At most 200 matches.",
		Class:   tool.ClassRead,
		Timeout: o.SearchTime + 10*time.Second,
	}, tool.Handlers[searchInput]{
		Check: func(in searchInput) error {
			query := strings.TrimRight(in.Query, "\r\n")
			switch {
			case query == "" && in.Mode != "name":
				return tool.Errorf("bad-input", `search: "query" is missing.`)
			case query == "" && in.Glob == "":
				return tool.Errorf("bad-input", `search: give "query" or "glob".`)
			case strings.ContainsAny(query, "\n\x00"):
				return tool.Errorf("bad-input", "search: the query must be one line of text; lines are searched one at a time.")
			}
			return nil
		},
		Subject: func(in searchInput) tool.Subject {
			return tool.Subject{Title: "search " + shown(in.Path) + " for " + in.Query + in.Glob, Paths: []string{shown(in.Path)}}
		},
		Run: func(ctx context.Context, env tool.Env, in searchInput) (tool.Result, error) {
			return runSearch(ctx, env, in, o.SearchTime)
		},
	})
}

func runSearch(ctx context.Context, env tool.Env, in searchInput, limit time.Duration) (tool.Result, error) {
	d, err := Open(env.Call.Folder)
	if err != nil {
		return tool.Result{}, err
	}
	defer d.Close()
	p, err := d.existing(in.Path)
	if err != nil {
		return tool.Result{}, err
	}
	s, err := newSearch(d, p, in)
	if err != nil {
		return tool.Result{}, err
	}
	s.limit = limit
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errSearchTime)
	defer cancel()
	if p.info.IsDir() {
		s.tree(bounded)
	} else {
		s.named(bounded)
	}
	if ctx.Err() != nil {
		return tool.Result{}, tool.Errorf("stopped", "The search was stopped.")
	}
	return ok(s.text()), nil
}

var errSearchTime = errors.New("the search took its time")

// hit is a line that matches, or a name.
type hit struct {
	path string
	line int // from 1; 0 for a name
	text string
}

// search is one search: what is looked for, and what was found so far.
type search struct {
	d     *Dir
	at    place
	in    searchInput
	limit time.Duration
	names bool
	lines *matcher
	name  func(rel string) bool
	glob  *glob

	hits    []hit
	files   int
	skips   skips
	more    bool // there are more matches than are shown
	expired bool
}

func newSearch(d *Dir, at place, in searchInput) (*search, error) {
	in.Query = strings.TrimRight(in.Query, "\r\n")
	s := &search{d: d, at: at, in: in, names: in.Mode == "name"}
	var err error
	if s.glob, err = newGlob(in.Glob); err != nil {
		return nil, err
	}
	fold := in.Case != nil && !*in.Case
	if s.names {
		s.name, err = nameMatcher(in.Query, in.Regexp, fold)
		return s, err
	}
	s.lines, err = newMatcher(in.Query, in.Regexp, fold)
	return s, err
}

// nameMatcher matches paths: a query with wildcards is a file pattern, another
// one a part of the path.
func nameMatcher(query string, isRegexp, fold bool) (func(string) bool, error) {
	if query == "" {
		return func(string) bool { return true }, nil
	}
	if !isRegexp && strings.ContainsAny(query, "*?") && doublestar.ValidatePattern(query) {
		whole := strings.Contains(query, "/")
		return func(rel string) bool {
			if !whole {
				rel = path.Base(rel)
			}
			if fold {
				return doublestar.MatchUnvalidated(strings.ToLower(query), strings.ToLower(rel))
			}
			return doublestar.MatchUnvalidated(query, rel)
		}, nil
	}
	if !isRegexp {
		query = regexp.QuoteMeta(query)
	}
	if fold {
		query = "(?i)" + query
	}
	re, err := regexp.Compile(query)
	if err != nil {
		return nil, tool.Errorf("bad-input", "search: the query is not a regular expression: %v.", err)
	}
	return re.MatchString, nil
}

// tree searches a folder. One goroutine walks, several search; the results
// are put together in the order of the walk, so that the same search finds
// the same first matches.
func (s *search) tree(ctx context.Context) {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := max(2, runtime.GOMAXPROCS(0))
	work := make(chan *batch)
	order := make(chan *batch, 4*workers)
	w := &walker{d: s.d, start: s.at.rel, glob: s.glob, names: s.names}
	w.emit = func(b *batch) bool {
		select {
		case order <- b:
		case <-ctx.Done():
			return false
		}
		select {
		case work <- b:
		case <-ctx.Done():
			b.dir.release()
			b.done <- found{}
			return true // it is in order already; the next one ends the walk
		}
		return true
	}
	var group sync.WaitGroup
	group.Go(func() {
		defer close(order)
		defer close(work)
		rules, _ := s.d.ignoresAbove(s.at.rel)
		w.folder(ctx, s.at.rel, rules)
	})
	for range workers {
		group.Go(func() {
			scan := newScanner(s)
			for b := range work {
				b.done <- scan.batch(ctx, b)
				b.dir.release()
			}
		})
	}
	for b := range order {
		s.take(<-b.done)
		if len(s.hits) > matchCount {
			cancel()
		}
	}
	group.Wait()
	s.expired = errors.Is(context.Cause(outer), errSearchTime)
	w.skips.add(s.skips)
	s.skips = w.skips
}

// take adds what a batch came to.
func (s *search) take(f found) {
	s.files += f.files
	s.skips.add(f.skips)
	if len(s.hits) <= matchCount {
		s.hits = append(s.hits, f.hits...)
	}
}

// named searches the file that the path names, whatever it is.
func (s *search) named(ctx context.Context) {
	if s.names {
		if s.name(s.at.rel) {
			s.hits = append(s.hits, hit{path: s.at.rel})
		}
		s.files = 1
		return
	}
	f, _, err := s.d.open(s.at)
	if err != nil {
		s.skips.unreadable++
		return
	}
	defer f.Close()
	scan := newScanner(s)
	var out found
	scan.named(ctx, f, s.at.rel, &out)
	s.take(out)
	s.expired = errors.Is(context.Cause(ctx), errSearchTime)
}

// text is what the caller reads.
func (s *search) text() string {
	if len(s.hits) > matchCount {
		s.hits, s.more = s.hits[:matchCount], true
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, h := range s.hits {
		seen[h.path] = true
		b.WriteString(h.path)
		if h.line > 0 {
			fmt.Fprintf(&b, ":%d:%s", h.line, h.text)
		} else {
			b.WriteString(h.text)
		}
		b.WriteByte('\n')
	}
	b.WriteString("[" + strings.Join(s.says(len(seen)), " ") + "]\n")
	return b.String()
}

func (s *search) says(files int) []string {
	searched := count(int64(s.files), "file")
	first := fmt.Sprintf("%s in %d of %s.", count(int64(len(s.hits)), "match"), files, searched)
	switch {
	case s.names:
		first = fmt.Sprintf("%s of %s.", count(int64(len(s.hits)), "match"), count(int64(s.files), "name"))
	case len(s.hits) == 0:
		first = "No match in " + searched + "."
	}
	says := []string{first}
	if s.more {
		says = append(says, fmt.Sprintf("Stopped after %d matches: there are more; narrow the query, path or glob.", matchCount))
	}
	if s.expired {
		says = append(says, fmt.Sprintf("Stopped after %v: not everything was searched; narrow the path or glob.", s.limit))
	}
	if skipped := s.skips.String(); skipped != "" {
		says = append(says, skipped, "Name a path to search it anyway.")
	}
	if len(s.hits) == 0 && !s.in.Regexp && !s.names && looksLikeRegexp(s.in.Query) {
		says = append(says, "The query was taken as plain text; regexp=true makes it a regular expression.")
	}
	return says
}

func looksLikeRegexp(query string) bool {
	return slices.ContainsFunc([]string{`\b`, `\s`, `\w`, `\d`, `.*`, `.+`, `|`, `^`, `$`, `[`, `\(`, `\.`}, func(sign string) bool {
		return strings.Contains(query, sign)
	})
}
