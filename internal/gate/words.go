package gate

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// words returns what is known of the words before they are expanded.
func (s *scan) words(ws []*syntax.Word) []value {
	out := make([]value, len(ws))
	for i, w := range ws {
		out[i] = s.word(w)
	}
	return out
}

func (s *scan) word(w *syntax.Word) value {
	var b strings.Builder
	for _, part := range w.Parts {
		s.part(&b, part)
		if b.Len() > maxCommand {
			return value{text: unknown, raw: s.raw(w)}
		}
	}
	return value{text: b.String(), raw: s.raw(w)}
}

// raw is the text of a node as it was written.
func (s *scan) raw(n syntax.Node) string {
	from, to := n.Pos().Offset(), n.End().Offset()
	if from >= to || to > uint(len(s.source)) {
		return ""
	}
	return s.source[from:to]
}

func (s *scan) part(b *strings.Builder, part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		b.WriteString(braces(unescape(p.Value)))
	case *syntax.SglQuoted:
		b.WriteString(single(p))
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			if lit, ok := q.(*syntax.Lit); ok {
				b.WriteString(unescapeQuoted(lit.Value))
			} else {
				s.part(b, q)
			}
			if b.Len() > maxCommand {
				return
			}
		}
	case *syntax.ParamExp:
		b.WriteString(s.param(p))
	case *syntax.CmdSubst:
		b.WriteString(s.output(p))
	default:
		b.WriteString(unknown)
	}
}

// param is the value of $NAME when it is certain. An operator on it leaves only
// a default word certain, and that may not be used.
func (s *scan) param(p *syntax.ParamExp) string {
	if p.Param == nil || p.Excl || p.Length || p.Width || p.IsSet || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil || p.Names != 0 {
		return unknown
	}
	if v, ok := s.vars[p.Param.Value]; ok {
		return v
	}
	switch p.Param.Value {
	case "HOME":
		return "~"
	case "PWD":
		if s.at.dir == "" || s.at.dir == "." {
			return s.at.folder
		}
		if rooted(s.at.dir) {
			return s.at.dir
		}
		return strings.TrimSuffix(s.at.folder, "/") + "/" + s.at.dir
	case "!", "$", "BASHPID":
		return ownJob
	}
	return unknown
}

// output is what $(...) prints when that is certain.
func (s *scan) output(c *syntax.CmdSubst) string {
	if len(c.Stmts) == 1 {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			switch ws := s.words(call.Args); {
			case ws[0].text == "pwd":
				return s.param(&syntax.ParamExp{Param: &syntax.Lit{Value: "PWD"}})
			case ws[0].text == "jobs":
				return ownJob
			case ws[0].text == "which" && len(ws) == 2:
				return ws[1].text
			case ws[0].text == "command" && len(ws) == 3 && ws[1].text == "-v":
				return ws[2].text
			}
		}
	}
	return unknown
}

// single is the value of '...' and of $'...' with its escapes.
func single(q *syntax.SglQuoted) string {
	if !q.Dollar {
		return q.Value
	}
	text, err := expand.Literal(nil, &syntax.Word{Parts: []syntax.WordPart{q}})
	if err != nil {
		return unknown
	}
	return text
}

// unescape removes the backslashes of unquoted text.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			if i == len(s) || s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// unescapeQuoted removes the backslashes that count between double quotes.
func unescapeQuoted(s string) string {
	return strings.NewReplacer("\\\n", "", `\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(s)
}

// braces makes {a,b} unknown when one of its words could lead elsewhere, and a
// name like any other when not.
func braces(s string) string {
	from, to := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	if from < 0 || to < from || !strings.ContainsAny(s[from:to], ",.") {
		return s
	}
	if in := s[from:to]; strings.ContainsAny(in, "/~") || strings.Contains(in, "..") && strings.Contains(in, ",") {
		return s[:from] + unknown + s[to+1:]
	}
	return s[:from] + "x" + s[to+1:]
}
