package gate

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a command that is looked at. The parser recurses, and Go cannot
// recover from a stack that ran out, so a command beyond them is judged unseen:
// not read-only, and dangerous. Measured: 64 KiB of the worst nesting takes 256 MiB of
// stack, of the 1 GiB that a goroutine may have; maxOpeners keeps it far below.
const (
	maxCommand = 64 << 10
	maxOpeners = 4096
	maxNested  = 6 // shells within shells
	maxReasons = 8
	maxVars    = 64      // variables that are followed
	maxValue   = 4 << 10 // of one of them
	maxWork    = 100_000 // words and nodes that are looked at
)

// Classification is what the syntax of a command tells.
type Classification struct {
	ReadOnly bool     `json:"readOnly"` // proved
	Danger   []string `json:"danger"`   // reasons to ask in auto-review; never nil
	Why      string   `json:"why"`      // what is proved, or what stood in the way of the proof
}

// Classify looks at the question's shell command, where it would run, and with what is known of Home. It is pure. A
// command that does not parse, or is too large to be parsed safely, is not read-only and is dangerous: a shell runs what
// stands before the error.
func (q Question) Classify() Classification { return classify(q.Subject.Command, q.place()) }

func (q Question) place() place { return place{folder: q.Folder, dir: q.Subject.Dir, home: q.Home} }

func classify(command string, at place) Classification {
	c := Classification{Danger: []string{}}
	file, problem := parse(command)
	if problem != "" {
		c.Why = problem
		c.Danger = append(c.Danger, "it "+problem+", so what it does is not known")
		return c
	}
	s := newScan(at)
	s.file(file, command)
	c.Danger = s.reasons
	if c.Why = proveReadOnly(command); c.Why == "" {
		if len(c.Danger) > 0 { // belt and braces: the proof and the rules must not disagree
			c.Why = c.Danger[0]
		} else {
			c.ReadOnly, c.Why = true, "as it is written, it only reads"
		}
	}
	return c
}

// parse returns the tree of a command, or what is wrong with it as the end of a
// sentence that begins with "it".
func parse(command string) (*syntax.File, string) {
	if len(command) > maxCommand {
		return nil, "is too long to be checked"
	}
	openers := 0
	for i := range len(command) {
		if strings.IndexByte("([{`", command[i]) >= 0 {
			openers++
		}
	}
	if openers > maxOpeners {
		return nil, "has too many brackets to be checked"
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).
		Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, "cannot be parsed"
	}
	return file, ""
}
