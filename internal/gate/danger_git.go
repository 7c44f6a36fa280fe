package gate

import "strings"

// gitRule finds force-pushes, rewritten history and the user's own settings.
func gitRule(s *scan, _ string, args []value) {
	dir := s.at.dir
	defer func() { s.at.dir = dir }()
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		switch args[0].text {
		case "-C":
			if len(args) > 1 {
				enters(s, "cd", args[1:2])
			}
			args = args[min(2, len(args)):]
		case "-c":
			if len(args) > 1 {
				gitSetting(s, args[1])
			}
			args = args[min(2, len(args)):]
		case "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env":
			args = args[min(2, len(args)):]
		default:
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return
	}
	sub, rest := args[0].text, args[1:]
	about := "git " + sub
	switch sub {
	case "push":
		gitPush(s, rest)
	case "filter-branch", "filter-repo":
		s.ask("rewrites history", about)
	case "rebase":
		if ops := operands(rest); len(ops) > 1 && sharedBranch(ops[len(ops)-1].text) {
			s.ask("rewrites the history of a shared branch", about+" "+ops[len(ops)-1].text)
		}
	case "branch":
		for _, a := range operands(rest) {
			if has(rest, "-D", "-d", "-f", "-M", "-m", "--delete", "--force") && sharedBranch(a.text) {
				s.ask("removes or moves a shared branch", about+" "+a.text)
			}
		}
	case "update-ref":
		s.ask("rewrites history", about)
	case "reflog":
		if what, _ := first(rest); what == "expire" || what == "delete" {
			s.ask("rewrites history", about+" "+what)
		}
	case "gc", "prune":
		if sub == "prune" || has(rest, "--prune") {
			s.ask("deletes commits that could still be restored", about)
		}
	case "config":
		gitConfig(s, rest)
	case "clone", "init":
		gitMakes(s, rest)
	case "credential", "credential-store", "credential-cache":
		s.ask("changes git credentials or the user's git settings", about)
	case "submodule":
		if what, inner := first(rest); what == "foreach" && len(operands(inner)) > 0 {
			s.nested(join(operands(inner)))
		}
	case "bisect":
		if what, inner := first(rest); what == "run" {
			s.command(inner)
		}
	}
}

// gitSetting looks at -c key=value: some values are commands.
func gitSetting(s *scan, a value) {
	key, text, _ := strings.Cut(a.text, "=")
	if shell, ok := strings.CutPrefix(text, "!"); ok {
		s.nested(shell)
	} else if gitRunsKey(key) {
		s.nested(text)
	}
}

const gitObeys = "changes what git runs in this repository"

// gitConfig looks at git config, which keeps what git obeys from then on.
func gitConfig(s *scan, args []value) {
	var ops, files []value
	reads, renames := false, false
	for i := 0; i < len(args); i++ {
		option, text, joined := strings.Cut(args[i].text, "=")
		switch {
		case option == "--":
			ops = append(ops, args[i+1:]...)
			i = len(args)
		case !strings.HasPrefix(option, "-"):
			ops = append(ops, args[i])
		case option == "--file" && joined:
			files = append(files, value{text: text, raw: args[i].raw})
		case hasField("-f --file --blob --type --default --comment --value", option) && !joined:
			if i++; i < len(args) && (option == "-f" || option == "--file") {
				files = append(files, args[i])
			}
		case hasField("--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l --unset --unset-all --remove-section", option):
			reads = true
		case option == "--rename-section":
			renames = true
		}
	}
	if len(ops) > 0 && hasField("get list unset remove-section set rename-section", ops[0].text) {
		reads, renames = reads || !hasField("set rename-section", ops[0].text), ops[0].text == "rename-section"
		ops = ops[1:]
	}
	if reads || len(ops) < 2 {
		return
	}
	for _, f := range files {
		s.writes(f)
	}
	switch key, text := ops[0].text, ops[1].text; {
	case has(args, "--global", "--system"):
		s.ask("changes git credentials or the user's git settings", "git config")
	case renames || gitKeeps(key, text):
		s.ask(gitObeys, ops[0].raw)
	case strings.Contains(key, unknown):
		s.ask("changes a setting of git that is known only when it runs", ops[0].raw)
	}
}

// gitMakes looks at what git clone and git init put into a new repository.
func gitMakes(s *scan, args []value) {
	for i, a := range args {
		option, text, joined := strings.Cut(a.text, "=")
		switch {
		case option == "--template" && (text != "" || !joined):
			s.ask(gitObeys, a.raw)
		case option == "-c" && i+1 < len(args), option == "--config" && !joined && i+1 < len(args):
			if key, text, _ := strings.Cut(args[i+1].text, "="); gitKeeps(key, text) {
				s.ask(gitObeys, args[i+1].raw)
			}
		case option == "--config":
			if key, text, _ := strings.Cut(text, "="); gitKeeps(key, text) {
				s.ask(gitObeys, a.raw)
			}
		}
	}
}

// gitKeeps reports whether a setting makes git run something, or obey another file, from then on.
func gitKeeps(key, text string) bool {
	key = strings.ToLower(key)
	section, _, _ := strings.Cut(key, ".")
	switch {
	case strings.HasPrefix(text, "!"):
		return true
	case section == "alias":
		return strings.HasPrefix(text, "-") || strings.Contains(text, " -c") || strings.Contains(text, unknown)
	case key == "core.hookspath":
		return text != "/dev/null"
	case section == "url" || section == "remote":
		return gitRunsKey(key) || strings.Contains(key, "ext::") || strings.HasPrefix(text, "ext::")
	case strings.HasPrefix(key, "protocol."):
		return text != "never"
	}
	return gitRunsKey(key) && !hasField("true false cat less", text) && text != ""
}

// gitRunsKey reports whether the value of a setting is a program, or names a file with more settings.
func gitRunsKey(key string) bool {
	key = strings.ToLower(key)
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndexByte(key, '.')+1:]
	switch section {
	case "pager", "include", "includeif":
		return true
	case "mergetool", "difftool", "guitool", "browser", "man":
		return name == "cmd" || name == "path"
	}
	return hasField("hookspath fsmonitor pager editor sshcommand askpass gitproxy alternaterefscommand external command cmd textconv clean smudge process driver "+
		"program defaultkeycommand helper difffilter uploadpack receivepack vcs packobjectshook templatedir tunnel sendmailcmd tocmd cccmd headercmd", name)
}

func gitPush(s *scan, args []value) {
	switch {
	case has(args, "--force", "--force-with-lease", "-f", "--mirror"):
		s.ask("rewrites what others may have: a forced push", "")
	case has(args, "--delete", "-d", "--prune"):
		s.ask("deletes branches or tags on the server", "")
	}
	for _, a := range operands(args) {
		switch {
		case strings.HasPrefix(a.text, "+"):
			s.ask("rewrites what others may have: a forced push", "")
		case strings.HasPrefix(a.text, ":") && len(a.text) > 1:
			s.ask("deletes branches or tags on the server", "")
		}
	}
}

func sharedBranch(name string) bool {
	name = strings.TrimPrefix(name, "refs/heads/")
	return hasField("main master trunk develop dev development production release stable", name) || strings.HasPrefix(name, "release/")
}
