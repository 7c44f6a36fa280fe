// Package scenario is a mind for tests and for the demo: a small script that answers messages the way a model would, the
// same way every time, and that still reacts to what it is told.
//
// A scenario is a YAML file of steps. A step has branches; the first branch whose expectations match the incoming message
// answers. Named groups of the expectations are kept for the rest of the conversation, so a later reply can quote what an
// earlier result said. A message that no branch expects is an error, never a guess: a scenario is also a check.
//
//	about: Greets, then repeats.
//	steps:
//	  - name: hello
//	    expect: '(?P<who>[A-Z]\w+)'     # one expression or a list; all must match
//	    reply: 'Hello, {{.Got.who}}.'    # text/template
//	  - name: again
//	    when:                            # several branches
//	      - expect: stop
//	        reply: Bye.
//	      - reply: '{{.Got.who}} said {{.Message}}'
//	        mode: thinking
//	        reasoning: Nothing to think about.
//	        goto: again
//	otherwise:                           # branches that any step may fall back to
//	  - expect: help
//	    reply: Say a name.
//
// Reply, reasoning, mode and fault are all templates. After a reply the conversation moves to the step named by goto, or else to the next step of the list. A branch of
// otherwise without goto stays where it is.
package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Bounds of a scenario file and of what it makes.
const (
	maxSource = 1 << 20
	maxSteps  = 1000
	maxReply  = 16 << 20
)

// The ways in which a site may stream a reply. They mean nothing to a mind that is not behind a chat site.
const (
	ModePlain      = "plain"       // the answer comes in the body of the send
	ModeThinking   = "thinking"    // thoughts, then a recap, then the answer, in the body of the send
	ModeHandoffSSE = "handoff-sse" // the send ends early; the answer comes from a resumed stream
	ModeHandoffWS  = "handoff-ws"  // the send ends early; the answer comes over the WebSocket
)

// Modes returns all stream modes.
func Modes() []string {
	return []string{ModePlain, ModeThinking, ModeHandoffSSE, ModeHandoffWS}
}

// Scenario is a parsed and checked scenario. It does not change and may be shared.
type Scenario struct {
	// About is one line for people.
	About string

	steps     []step
	otherwise []branch
	byName    map[string]int
}

type step struct {
	name     string
	branches []branch
}

type branch struct {
	line      int
	expect    []*regexp.Regexp
	unless    []*regexp.Regexp
	reply     *template.Template
	reasoning *template.Template
	mode      *template.Template
	fault     *template.Template
	next      string
}

// The file as YAML sees it. A step and a branch are read as the same thing; see compileStep and compileBranches for what
// each may have.
type (
	fileNode struct {
		About     string     `yaml:"about"`
		Steps     []stepNode `yaml:"steps"`
		Otherwise []stepNode `yaml:"otherwise"`
	}
	stepNode struct {
		line   int
		fields stepFields
	}
	stepFields struct {
		Name      string     `yaml:"name"`
		When      []stepNode `yaml:"when"`
		Expect    patterns   `yaml:"expect"`
		Unless    patterns   `yaml:"unless"`
		Reply     *string    `yaml:"reply"`
		Reasoning string     `yaml:"reasoning"`
		Mode      string     `yaml:"mode"`
		Fault     string     `yaml:"fault"`
		Goto      string     `yaml:"goto"`
	}
	// patterns is one expression or a list of them.
	patterns []string
)

func (s *stepNode) UnmarshalYAML(node ast.Node) error {
	s.line = lineOf(node)
	return yaml.NodeToValue(node, &s.fields, yaml.Strict())
}

func (p *patterns) UnmarshalYAML(node ast.Node) error {
	if _, ok := node.(*ast.SequenceNode); ok {
		return yaml.NodeToValue(node, (*[]string)(p))
	}
	var one string
	if err := yaml.NodeToValue(node, &one); err != nil {
		return err
	}
	*p = patterns{one}
	return nil
}

// lineOf is the first line of a node: of a mapping, the line of its first key.
func lineOf(node ast.Node) int {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		node = m.Values[0].Key
	}
	if t := node.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// Parse reads a scenario file and checks all of it: keys, expressions, templates, modes and the targets of goto. Errors
// name the line. Names of faults are checked by the site that makes them happen.
func Parse(src []byte) (*Scenario, error) {
	if len(src) > maxSource {
		return nil, fmt.Errorf("scenario has %d bytes; the limit is %d", len(src), maxSource)
	}
	var file fileNode
	if err := decode(src, &file); err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	if len(file.Steps) == 0 {
		return nil, errors.New("read scenario: it has no steps")
	}
	if len(file.Steps) > maxSteps {
		return nil, fmt.Errorf("read scenario: it has %d steps; the limit is %d", len(file.Steps), maxSteps)
	}
	s := &Scenario{About: file.About, byName: map[string]int{}}
	for i, n := range file.Steps {
		if n.fields.Name == "" {
			continue
		}
		if _, twice := s.byName[n.fields.Name]; twice {
			return nil, fmt.Errorf("scenario line %d: a second step named %q", n.line, n.fields.Name)
		}
		s.byName[n.fields.Name] = i
	}
	for _, n := range file.Steps {
		st, err := s.compileStep(n)
		if err != nil {
			return nil, err
		}
		s.steps = append(s.steps, st)
	}
	branches, err := s.compileBranches(file.Otherwise)
	if err != nil {
		return nil, err
	}
	s.otherwise = branches
	return s, nil
}

// decode turns a panic of the YAML library, which foreign bytes have caused before, into an error.
func decode(src []byte, into *fileNode) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not readable as YAML: %v", p)
		}
	}()
	return yaml.UnmarshalWithOptions(src, into, yaml.Strict())
}

func (s *Scenario) compileStep(n stepNode) (step, error) {
	st := step{name: n.fields.Name}
	if len(n.fields.When) == 0 {
		b, err := s.compileBranch(n)
		if err != nil {
			return step{}, err
		}
		st.branches = []branch{b}
		return st, nil
	}
	f := n.fields
	if len(f.Expect)+len(f.Unless) > 0 || f.Reply != nil || f.Reasoning+f.Mode+f.Fault+f.Goto != "" {
		return step{}, fmt.Errorf("scenario line %d: a step has either when or its own expect, reply and goto, not both", n.line)
	}
	var err error
	st.branches, err = s.compileBranches(f.When)
	return st, err
}

func (s *Scenario) compileBranches(nodes []stepNode) ([]branch, error) {
	var out []branch
	for _, n := range nodes {
		if n.fields.Name != "" || len(n.fields.When) > 0 {
			return nil, fmt.Errorf("scenario line %d: a branch has neither a name nor branches of its own", n.line)
		}
		b, err := s.compileBranch(n)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (s *Scenario) compileBranch(n stepNode) (branch, error) {
	fail := func(err error) (branch, error) { return branch{}, fmt.Errorf("scenario line %d: %w", n.line, err) }
	f := n.fields
	b := branch{line: n.line, next: f.Goto}
	if f.Reply == nil && f.Fault == "" {
		return fail(errors.New("neither a reply nor a fault"))
	}
	if f.Mode == "" {
		f.Mode = ModePlain
	}
	if !strings.Contains(f.Mode, "{{") && !slices.Contains(Modes(), f.Mode) {
		return fail(fmt.Errorf("mode %q is not one of %q", f.Mode, Modes()))
	}
	if _, ok := s.byName[b.next]; b.next != "" && !ok {
		return fail(fmt.Errorf("goto %q: no step has that name", b.next))
	}
	var err error
	if b.expect, err = compilePatterns(f.Expect); err != nil {
		return fail(fmt.Errorf("expect: %w", err))
	}
	if b.unless, err = compilePatterns(f.Unless); err != nil {
		return fail(fmt.Errorf("unless: %w", err))
	}
	reply := ""
	if f.Reply != nil {
		reply = *f.Reply
	}
	for _, t := range []struct {
		into *(*template.Template)
		name string
		text string
	}{{&b.reply, "reply", reply}, {&b.reasoning, "reasoning", f.Reasoning}, {&b.mode, "mode", f.Mode}, {&b.fault, "fault", f.Fault}} {
		if *t.into, err = compileTemplate(t.name, t.text); err != nil {
			return fail(err)
		}
	}
	return b, nil
}

func compilePatterns(src patterns) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, p := range src {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, err
		}
		out = append(out, re)
	}
	return out, nil
}
