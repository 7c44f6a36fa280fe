package gate

import "strings"

// Programs that hand a command to somebody else: it then runs outside of the boundary, as whoever that is, and is not
// ended with the command that started it.

// handsOver is for programs that have a command run by the system.
func handsOver(s *scan, name string, args []value) {
	s.ask("has something run outside of what Plexus can hold and end", name)
	wrapped(s, name, args)
}

// containers looks at what a container is given of this machine.
func containers(s *scan, name string, args []value) {
	sub, rest := first(args)
	if sub == "container" {
		sub, rest = first(rest)
	}
	if !hasField("run create", sub) {
		publishes(s, name, args)
		return
	}
	for i, a := range rest {
		option, text, joined := strings.Cut(a.text, "=")
		next := value{}
		if i+1 < len(rest) {
			next = rest[i+1]
		}
		switch {
		case option == "--volume" && joined, option == "--mount" && joined:
			s.mounts(text, a.raw)
		case option == "--volume" || option == "--mount" || shortEnds(a.text, 'v'):
			s.mounts(next.text, next.raw)
		case strings.HasPrefix(a.text, "-v"):
			s.mounts(a.text[len("-v"):], a.raw)
		case option == "--privileged" && text != "false", option == "--device":
			s.ask("gives a container the devices of this machine", a.raw)
		case hasField("--pid --ipc --userns --cgroupns", option) && (text == "host" || !joined && next.text == "host"):
			s.ask("lets a container into the processes of this machine", a.raw)
		}
	}
}

// mounts judges what a container sees: "source:target:options", or "type=bind,source=...,target=...".
func (s *scan) mounts(text, raw string) {
	source, rest, bound := strings.Cut(text, ":")
	if len(source) == 1 && !strings.Contains("/.~"+unknown, source) { // a drive: names of volumes are longer
		rest, _, _ = strings.Cut(rest, ":")
		source += ":" + rest
	}
	if strings.Contains(text, "=") && strings.Contains(text, ",") {
		source, bound = "", false
		for field := range strings.SplitSeq(text, ",") {
			if key, path, _ := strings.Cut(field, "="); key == "source" || key == "src" {
				source, bound = path, true
			}
		}
	}
	if !bound || !strings.ContainsAny(source, `/\`) && !hasField(". .. ~", source) { // a volume by its name
		return
	}
	switch w, _ := s.at.locate(source); {
	case w == outside, w == itself && rooted(source) && source != s.at.folder, w == itself && strings.HasPrefix(source, ".."):
		s.ask("gives a container what is outside of the folder", raw)
	}
}
