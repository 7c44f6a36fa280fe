// Package gate decides which calls need a person's word and keeps the
// questions that are open. Judging is pure; asking is durable: a pending
// approval survives a restart, is answered once, and the first answer wins.
//
// A command is looked at in two ways, both on its syntax tree and without
// touching the machine. The read-only proof (readonly.go) says yes only when
// nothing else is possible. The danger rules (danger.go) name what a person
// would want to hear of before it happens; they are a warning and no wall: what
// holds a command is the boundary that it runs in.
package gate

import (
	"fmt"
	"strings"
)

// Level says when Plexus stops to ask.
type Level string

const (
	Manual     Level = "manual"      // before every command and every write
	AutoReview Level = "auto-review" // when the model or our rules call an action dangerous; the default
	Full       Level = "full"        // never
)

// ParseLevel returns the level that s names. The empty string is an error: who
// has a default says so.
func ParseLevel(s string) (Level, error) {
	switch l := Level(strings.TrimSpace(s)); l {
	case Manual, AutoReview, Full:
		return l, nil
	}
	return "", fmt.Errorf("unknown permission level %q: choose %s, %s or %s", s, Manual, AutoReview, Full)
}

// Stricter returns the one of a and b that asks more often. The empty level asks
// for nothing of its own; an unknown one counts as Manual.
func Stricter(a, b Level) Level {
	if a == "" || (b != "" && b.rank() < a.rank()) {
		a = b
	}
	return a
}

// rank orders levels from the strictest up.
func (l Level) rank() int {
	switch l {
	case Full:
		return 2
	case AutoReview:
		return 1
	default:
		return 0
	}
}
