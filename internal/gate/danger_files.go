package gate

import (
	"path"
	"slices"
	"strings"
)

func removes(s *scan, name string, args []value) {
	if name == "gio" {
		if sub, rest := first(args); sub == "trash" || sub == "remove" {
			removes(s, "rm", rest)
		}
		return
	}
	for _, a := range operands(args) {
		s.deletes(a)
	}
}

// finds looks at find's actions with the places where it starts.
func finds(s *scan, _ string, args []value) {
	starts, tests := []value{}, 0
	for _, a := range args {
		if strings.HasPrefix(a.text, "-") || strings.HasPrefix(a.text, "(") || a.text == "!" {
			break
		}
		starts = append(starts, a)
	}
	if len(starts) == 0 {
		starts = append(starts, value{text: ".", raw: "."})
	}
	for i := 0; i < len(args); i++ {
		switch a := args[i].text; a {
		case "-delete":
			for _, start := range starts {
				if tests > 0 {
					start.text += "/x" // some of what is below
				}
				s.deletes(start)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			var inner []value
			for i++; i < len(args) && args[i].text != ";" && args[i].text != "+"; i++ {
				inner = append(inner, args[i])
			}
			for _, start := range starts {
				s.command(found(inner, start))
			}
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			if i+1 < len(args) {
				s.writes(args[i+1])
			}
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-size", "-mtime", "-mmin", "-newer", "-empty", "-ctime", "-atime", "-user", "-perm":
			tests++
		case "-type":
			if i+1 < len(args) && args[i+1].text == "d" {
				tests++
			}
		}
	}
}

// found puts a path below start where find puts what it finds.
func found(words []value, start value) []value {
	out := make([]value, len(words))
	for i, w := range words {
		out[i] = value{text: strings.ReplaceAll(w.text, "{}", start.text+"/x"), raw: w.raw}
		if out[i].text != w.text {
			out[i].raw = start.raw + "/..."
		}
	}
	return out
}

func convert(s *scan, _ string, args []value) {
	for _, a := range args {
		if of, ok := strings.CutPrefix(a.text, "of="); ok {
			if w, p := s.at.locate(of); w == outside && strings.HasPrefix(p, "/dev/") && keeping(p) != "" {
				s.ask("writes to a disk or device", a.raw)
				continue
			}
			s.writes(value{text: of, raw: a.raw})
		}
	}
}

func writesAll(s *scan, _ string, args []value) {
	for _, a := range operands(args) {
		s.writes(a)
	}
}

func writesLast(s *scan, _ string, args []value) {
	for _, a := range args {
		if dir, ok := strings.CutPrefix(a.text, "--target-directory="); ok {
			s.writes(value{text: dir, raw: a.raw})
		}
	}
	if ops := operands(args); len(ops) > 1 || has(args, "-t") {
		if has(args, "-t") {
			s.writes(ops[0])
		}
		s.writes(ops[len(ops)-1])
	}
}

// moves also takes something away from where it was.
func moves(s *scan, name string, args []value) {
	writesLast(s, name, args)
	from := operands(args)
	switch {
	case has(args, "--target-directory"):
	case has(args, "-t"):
		from = from[min(1, len(from)):]
	default:
		from = from[:max(len(from)-1, 0)]
	}
	for _, a := range from {
		s.movesAway(a)
	}
}

// temporary are places from which things are taken into the folder as a matter of course.
var temporary = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/dev/shm"}

// movesAway judges a path that will be gone from where it is.
func (s *scan) movesAway(a value) {
	switch w, p := s.at.locate(a.text); {
	case w == itself:
		s.ask("moves the folder itself, or all in it", a.raw)
	case w == outside && !slices.ContainsFunc(temporary, func(dir string) bool { return under(p, dir) }):
		s.ask("moves something away from outside of the folder", a.raw)
	case w == inside && path.Base(p) == ".git":
		s.ask("moves the history of a repository", a.raw)
	}
}

func syncs(s *scan, name string, args []value) {
	writesLast(s, name, args)
	if ops := operands(args); len(ops) > 1 && has(args, "--remove-source-files", "--remove-sent-files") {
		for _, a := range ops[:len(ops)-1] {
			s.movesAway(a)
		}
	}
	if ops := operands(args); len(ops) > 1 && strings.Contains(join(args), "--delete") {
		if w, _ := s.at.locate(ops[len(ops)-1].text); w != inside {
			s.ask("deletes outside of the folder", ops[len(ops)-1].raw)
		}
	}
}

func editsInPlace(s *scan, name string, args []value) {
	if !has(args, "-i", "--in-place") {
		return
	}
	for _, a := range operands(args) {
		if strings.ContainsAny(a.text, "/~.") {
			s.writes(a)
		}
	}
}

// loads remembers what a program fetches into a file, and judges the file.
func loads(s *scan, name string, args []value) {
	for i, a := range args {
		target, ok := "", false
		switch {
		case i+1 < len(args) && (name == "curl" && (a.text == "-o" || a.text == "--output" || shortEnds(a.text, 'o')) || name == "wget" && (a.text == "-O" || shortEnds(a.text, 'O'))):
			target, ok = args[i+1].text, true
		case strings.HasPrefix(a.text, "--output="), strings.HasPrefix(a.text, "--output-document="):
			_, target, ok = strings.Cut(a.text, "=")
		case name == "wget" && !strings.HasPrefix(a.text, "-") || name == "curl" && i > 0 && (args[i-1].text == "-O" || shortEnds(args[i-1].text, 'O')):
			target, ok = a.text[strings.LastIndex(a.text, "/")+1:], strings.Contains(a.text, "/")
		}
		if !ok || target == "-" || target == "" {
			continue
		}
		s.writes(value{text: target, raw: a.raw + " " + target})
		if _, p := s.at.locate(target); len(s.fetched) < maxVars {
			s.fetched[p] = true
		}
	}
}

func shortEnds(option string, letter byte) bool {
	return len(option) > 1 && option[0] == '-' && option[1] != '-' && option[len(option)-1] == letter
}

func permission(s *scan, name string, args []value) {
	ops := operands(args)
	if !has(args, "--reference") && hasField("chmod chown chgrp chattr setcap chflags", name) && len(ops) > 0 {
		ops = ops[1:]
	}
	for _, a := range ops {
		switch w, _ := s.at.locate(a.text); {
		case w == outside, w == itself && rooted(a.text) && a.text != s.at.folder, w == itself && strings.HasPrefix(a.text, ".."):
			s.ask("changes permissions outside of the folder", a.raw)
		case w == unclear && has(args, "-R", "--recursive"):
			s.ask("changes permissions at a path that is known only when it runs", a.raw)
		}
	}
}

// diskTool asks unless the words only list.
func diskTool(s *scan, name string, args []value) {
	sub, _ := first(args)
	switch {
	case name == "mount" && len(operands(args)) == 0 && !has(args, "-a"),
		(name == "fdisk" || name == "parted" || name == "sfdisk" || name == "losetup") && has(args, "-l", "--list", "-a"),
		name == "swapon" && has(args, "-s", "--show"),
		hasField("zpool zfs diskutil", name) && hasField("list status info get", sub):
		return
	}
	if name == "format" && len(args) == 0 {
		return
	}
	s.ask("changes disks or file systems", name)
}
