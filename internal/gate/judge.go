package gate

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"plexus/internal/store"
	"plexus/internal/tool"
)

// Kinds of store.Rule.
const (
	RuleExact  = "exact"  // this command, letter for letter, in this directory
	RulePrefix = "prefix" // commands that begin with these words
	RuleWrite  = "write"  // one file, by the title of its write: "write README.md"
)

// Question is all that a verdict depends on.
type Question struct {
	Level   Level
	Class   tool.Class
	Subject tool.Subject
	Review  bool   // the model itself asked for approval
	Folder  string // native path of the folder
	Home    string // native path of Plexus' own files, which are to be left alone; "" when that is not known
	Rules   []store.Rule
}

// Verdict says whether a person is asked, and why.
type Verdict struct {
	Ask      bool     `json:"ask"`
	Reasons  []string `json:"reasons"`
	ReadOnly bool     `json:"readOnly"`       // proved to change nothing: may run beside others
	Rule     string   `json:"rule,omitempty"` // ID of the always-allow rule that spared the question
}

// Judge decides on one call. It is pure. What it does not know (a class, a
// level) it treats as the strictest.
//
// Reading asks for nothing but Plexus' own files. An always-allow rule spares any question: one for an exact command
// in its directory always, one for a prefix or for writes only while no danger rule speaks, because whoever
// allowed `git push` has not seen `git push --force`.
func Judge(q Question) Verdict {
	v := Verdict{Reasons: []string{}}
	var danger []string
	switch q.Class {
	case tool.ClassRead:
		v.ReadOnly = true
		if danger = pathDanger(q, (*scan).mentions); q.Level != Full && len(danger) > 0 {
			v.Ask, v.Reasons = true, danger
		}
		return v
	case tool.ClassWrite:
		danger = pathDanger(q, (*scan).writes)
	default:
		c := q.Classify()
		v.ReadOnly, danger = c.ReadOnly, c.Danger
	}
	if q.Level == Full {
		return v
	}
	v.Reasons = append(v.Reasons, danger...)
	if q.Review {
		v.Reasons = append(v.Reasons, "the model asked for approval")
	}
	if q.Level != AutoReview {
		v.Reasons = append(v.Reasons, levelReason(q.Class))
	}
	if len(v.Reasons) == 0 {
		return v
	}
	if id, ok := spared(q, len(danger) > 0); ok {
		v.Rule, v.Reasons = id, []string{}
		return v
	}
	v.Ask = true
	return v
}

func levelReason(c tool.Class) string {
	if c == tool.ClassWrite {
		return "the permission level asks before every write"
	}
	return "the permission level asks before every command"
}

// spared returns the rule that allows the call without a question.
func spared(q Question, danger bool) (id string, ok bool) {
	i := slices.IndexFunc(q.Rules, func(r store.Rule) bool {
		switch {
		case q.Class == tool.ClassWrite:
			return r.Kind == RuleWrite && !danger && r.Pattern != "" && r.Pattern == q.Subject.Title
		case q.Class != tool.ClassExec:
			return false
		case r.Kind == RuleExact:
			return r.Pattern != "" && strings.TrimSpace(q.Subject.Command) == r.Pattern && ruleDir(q.Subject.Dir) == ruleDir(r.Dir)
		case r.Kind == RulePrefix:
			return !danger && hasPrefix(q.Subject.Command, r.Pattern)
		}
		return false
	})
	if i < 0 {
		return "", false
	}
	return q.Rules[i].ID, true
}

// ruleDir is a cwd as rules compare it: without what changes nothing. One with ".."
// stays as it was spelled, because what that leads to depends on links.
func ruleDir(dir string) string {
	dir = filepath.ToSlash(dir)
	if slices.Contains(strings.Split(dir, "/"), "..") {
		return dir
	}
	if dir = path.Clean(dir); dir == "." {
		return ""
	}
	return dir
}

// hasPrefix reports whether command is one simple command of plain words that
// begins with the words of prefix. Anything that a shell could read as more than
// words (a pipe, a variable, a glob) does not match, wherever it stands.
func hasPrefix(command, prefix string) bool {
	want, why := simple(prefix)
	if why != "" || len(want) == 0 {
		return false
	}
	have, why := simple(command)
	return why == "" && len(have) >= len(want) && slices.Equal(texts(have[:len(want)]), texts(want))
}

// CheckRule refuses a rule that could never match or that would match too much.
func CheckRule(kind, pattern string) error {
	switch kind {
	case RuleWrite:
		if strings.TrimSpace(pattern) == "" {
			return fmt.Errorf("a %s rule needs the title of the write", RuleWrite)
		}
	case RuleExact:
		if strings.TrimSpace(pattern) == "" {
			return fmt.Errorf("an %s rule needs the command", RuleExact)
		}
	case RulePrefix:
		words, why := simple(pattern)
		if why != "" {
			return fmt.Errorf("%q cannot be a prefix rule: %s", pattern, why)
		}
		if name := commandName(words[0].text); hasField(shells, name) || isWrapper(name) {
			return fmt.Errorf("%q cannot be a prefix rule: %s runs any other command", pattern, name)
		}
	default:
		return fmt.Errorf("unknown kind of rule %q: choose %s, %s or %s", kind, RuleExact, RulePrefix, RuleWrite)
	}
	return nil
}

// pathDanger judges the targets of a file tool, which stay in the folder: what
// is left are folders that hold settings of the user or of git, or Plexus' own files.
func pathDanger(q Question, judge func(*scan, value)) []string {
	s := newScan(place{folder: q.Folder, home: q.Home})
	for _, p := range q.Subject.Paths {
		judge(s, value{text: p, raw: p})
		// "/name/file" may be the folder by its virtual name.
		if _, in, ok := strings.Cut(strings.TrimPrefix(p, "/"), "/"); ok && strings.HasPrefix(p, "/") {
			judge(s, value{text: in, raw: p})
		}
	}
	return s.reasons
}
