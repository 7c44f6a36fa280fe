package gate

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Programs that bring bytes from the network, and those that run what they read.
const (
	fetchers     = "curl wget wget2 fetch aria2c http https xh nc ncat netcat socat telnet ftp sftp ssh lynx w3m links iwr invoke-webrequest"
	shells       = "sh bash zsh dash ksh mksh ash fish tcsh csh rbash pwsh powershell"
	interpreters = "python python2 python3 perl ruby node deno bun php lua osascript tclsh"
)

// pipe judges a pipeline at each of its joints: what is left of the joint writes to
// the program on its right.
func (s *scan) pipe(b *syntax.BinaryCmd) {
	right := s.callee(b.Y)
	if len(right) == 0 {
		return
	}
	name := commandName(right[0].text)
	network := s.fetches(b.X)
	switch {
	case name == "xargs" || name == "parallel":
		if inner := unwrap(right); network && len(inner) > 0 && isShell(inner[0]) {
			s.ask("runs what comes from the network in a shell", s.raw(b))
		}
	case !readsScript(right):
	case network:
		s.ask("runs what comes from the network in a shell", s.raw(b))
	case isShell(right[0]):
		left := s.callee(lastOf(b.X))
		switch said := printed(left); {
		case said != "":
			s.nested(said)
		case len(left) > 0 && hasField("base64 base32 xxd openssl gpg rev tr gunzip zcat gzip bzip2 xz", commandName(left[0].text)):
			s.ask("runs text in a shell that cannot be read before", s.raw(b))
		}
	}
}

// lastOf is the command that a pipeline ends with.
func lastOf(st *syntax.Stmt) *syntax.Stmt {
	for {
		b, ok := st.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return st
		}
		st = b.Y
	}
}

// callee returns the words of the simple command that a statement starts with,
// without what merely wraps it (sudo, env, timeout).
func (s *scan) callee(st *syntax.Stmt) []value {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	words := s.words(call.Args)
	for range maxNested {
		if _, ok := wrappers[commandName(words[0].text)]; !ok || hasField("xargs parallel", commandName(words[0].text)) {
			break
		}
		inner := unwrap(words)
		if len(inner) == 0 {
			break
		}
		words = inner
	}
	return words
}

// fetches reports whether a part of the command below n is a network program.
func (s *scan) fetches(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if !s.afford(1) {
			return false
		}
		if st, ok := n.(*syntax.Stmt); ok && !found {
			if words := s.callee(st); len(words) > 0 {
				found = hasField(fetchers, commandName(words[0].text))
			}
		}
		return !found
	})
	return found
}

// runsFetched judges words of a shell that carry code from the network: bash <(curl ...),
// sh -c "$(curl ...)", eval, source, and a file that was loaded a moment ago.
func (s *scan) runsFetched(c *syntax.CallExpr, words []value) {
	const why = "runs what comes from the network in a shell"
	if s.fetches(c.Args[0]) {
		s.ask(why, s.raw(c))
		return
	}
	name := commandName(words[0].text)
	all := name == "eval"
	if _, p := s.at.locate(words[0].text); strings.Contains(words[0].text, "/") && s.fetched[p] {
		s.ask("runs a file that it has just loaded from the network", s.raw(c))
	}
	if !all && !hasField(shells+" "+interpreters+" source . sudo", name) {
		return
	}
	for i, w := range c.Args[1:] {
		if s.fetches(w) {
			s.ask(why, s.raw(c))
			return
		}
		if strings.HasPrefix(words[i+1].text, "-") || all {
			continue
		}
		if _, p := s.at.locate(words[i+1].text); s.fetched[p] {
			s.ask("runs a file that it has just loaded from the network", s.raw(c))
		}
		return
	}
}

func isShell(v value) bool { return hasField(shells, commandName(v.text)) }

// readsScript reports whether a command takes its program from standard input: a
// shell or an interpreter without a script, -c, -e or -m.
func readsScript(words []value) bool {
	name := commandName(words[0].text)
	shell := hasField(shells, name)
	if !shell && !hasField(interpreters, name) {
		return false
	}
	for _, a := range words[1:] {
		switch {
		case a.text == "-" || a.text == "/dev/stdin" || shell && a.text == "-s":
			return true
		case a.text == "--" || shell && (a.text == "-o" || strings.HasPrefix(a.text, "--")):
		case strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--"):
			if strings.ContainsAny(a.text, "c") && shell || !shell && strings.ContainsAny(a.text, "cempr") {
				return false
			}
		case strings.HasPrefix(a.text, "--"):
		case shell && hasField("pipefail errexit xtrace nounset", a.text):
		default:
			return false
		}
	}
	return true
}

// printed is the text that echo or printf writes, "" for other commands.
func printed(words []value) string {
	if len(words) < 2 || !hasField("echo printf", commandName(words[0].text)) {
		return ""
	}
	words = words[1:]
	for len(words) > 1 && hasField("-e -n -E -ne -en --", words[0].text) {
		words = words[1:]
	}
	return strings.NewReplacer(`\n`, "\n", "%s", "").Replace(join(words))
}

func join(words []value) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.text
	}
	return strings.Join(parts, " ")
}
