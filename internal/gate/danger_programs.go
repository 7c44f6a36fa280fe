package gate

import "strings"

// kills spares what the command itself started.
func kills(s *scan, name string, args []value) {
	const why = "ends processes that it did not start"
	switch name {
	case "kill":
		for i, a := range args {
			if i == 0 && (a.text == "-l" || a.text == "-L" || a.text == "-0") {
				return
			}
			if strings.HasPrefix(a.text, "-") && i < len(args)-1 && !(i > 0 && strings.Trim(a.text[1:], "0123456789") == "") {
				continue // a signal; a later -N is a process group
			}
			if i > 0 && (args[i-1].text == "-s" || args[i-1].text == "-n") {
				continue
			}
			if !strings.HasPrefix(strings.TrimPrefix(a.text, "-"), ownJob) && !strings.HasPrefix(a.text, "%") {
				s.ask(why, name+" "+a.raw)
			}
		}
	case "fuser":
		if has(args, "-k", "--kill") {
			s.ask(why, "fuser -k")
		}
	case "pkill":
		for i, a := range args[:max(len(args)-1, 0)] {
			if (a.text == "-P" || a.text == "--parent") && args[i+1].text == ownJob {
				return
			}
		}
		s.ask(why, name+" "+join(args))
	default:
		s.ask(why, name+" "+join(args))
	}
}

func service(s *scan, name string, args []value) {
	for _, a := range args {
		if hasField("stop restart kill disable mask unload bootout remove isolate halt poweroff reboot try-restart reload-or-restart enable load bootstrap", strings.ToLower(a.text)) {
			s.ask("stops or changes a service of this machine", name+" "+a.text)
			return
		}
	}
}

func stopsMachine(s *scan, name string, args []value) {
	if name == "init" && (len(args) == 0 || !hasField("0 1 6 s S", args[0].text)) {
		return
	}
	s.ask("stops or restarts this machine", name)
}

func crontab(s *scan, name string, args []value) {
	if !has(args, "-l") {
		startUp(s, name, args)
	}
}

func startUp(s *scan, name string, _ []value) {
	s.ask("makes the system run something later", name)
}

func account(s *scan, name string, _ []value) {
	s.ask("changes accounts of this machine", name)
}

// credentials finds the forms of programs that write keys or sign in.
func credentials(s *scan, name string, args []value) {
	sub, rest := first(args)
	second, _ := first(rest)
	why := "changes cloud or registry credentials"
	switch name {
	case "ssh-copy-id":
		s.ask("changes ssh keys or settings", name)
	case "ssh-add":
		if !has(args, "-l", "-L") {
			s.ask("changes ssh keys or settings", name)
		}
	case "ssh-keygen":
		sshKeygen(s, args)
	case "aws":
		if sub == "configure" && second != "list" && second != "get" || sub == "sso" {
			s.ask(why, "aws "+sub)
		}
	case "gcloud":
		if sub == "auth" && second != "list" || sub == "config" && second == "set" || sub == "init" {
			s.ask(why, "gcloud "+sub)
		}
	case "az":
		if sub == "login" || sub == "logout" {
			s.ask(why, "az "+sub)
		}
	case "kubectl":
		if sub == "config" && (strings.HasPrefix(second, "set") || strings.HasPrefix(second, "use") || strings.HasPrefix(second, "delete") || strings.HasPrefix(second, "unset")) {
			s.ask(why, "kubectl config "+second)
		}
	case "gh":
		switch {
		case sub == "auth" && second != "status" || sub == "secret" && second != "list" || sub == "ssh-key" && second != "list":
			s.ask(why, "gh "+sub)
		case sub == "release" && !hasField("list view download", second), sub == "repo" && second == "delete":
			s.ask("publishes or removes something that others see", "gh "+sub+" "+second)
		}
	case "security", "secret-tool", "cmdkey":
		if strings.HasPrefix(sub, "add") || strings.HasPrefix(sub, "delete") || strings.HasPrefix(sub, "set") || sub == "store" || sub == "clear" || name == "cmdkey" {
			s.ask(why, name+" "+sub)
		}
	}
}

func sshKeygen(s *scan, args []value) {
	if has(args, "-l", "-y", "-F", "-B") {
		return
	}
	for i, a := range args[:max(len(args)-1, 0)] {
		if a.text == "-f" {
			if w, _ := s.at.locate(args[i+1].text); w == inside {
				return
			}
		}
	}
	s.ask("changes ssh keys or settings", "ssh-keygen")
}

func pythonRule(s *scan, _ string, args []value) {
	for i, a := range args[:max(len(args)-1, 0)] {
		switch {
		case a.text == "-m":
			s.command(args[i+1:])
			return
		case !strings.HasPrefix(a.text, "-"):
			return
		}
	}
}

// publishing lists the subcommands that put something where others get it, as
// "program: words". A word group with "+" must follow in order.
var publishing = map[string]string{
	"npm": "publish unpublish deprecate dist-tag+add dist-tag+rm owner+add owner+rm access", "pnpm": "publish unpublish", "yarn": "publish npm+publish", "bun": "publish",
	"cargo": "publish yank owner", "gem": "push yank owner", "twine": "upload register", "poetry": "publish", "flit": "publish", "hatch": "publish", "uv": "publish",
	"pdm": "publish", "docker": "push image+push manifest+push compose+push", "podman": "push image+push manifest+push", "nerdctl": "push", "buildah": "push", "skopeo": "copy sync delete",
	"helm": "push", "mvn": "deploy release:perform", "mvnw": "deploy release:perform", "gradle": "publish uploadArchives publishPlugins", "gradlew": "publish uploadArchives publishPlugins",
	"dotnet": "nuget+push nuget+delete", "nuget": "push delete", "goreleaser": "release publish", "vsce": "publish unpublish", "ovsx": "publish", "lerna": "publish",
	"changeset": "publish", "anaconda": "upload", "jsr": "publish", "deno": "publish", "mix": "hex.publish", "rebar3": "hex+publish", "cabal": "upload",
	"stack": "upload", "luarocks": "upload", "sbt": "publish publishSigned", "oras": "push", "crane": "push", "ko": "publish",
}

// signingIn lists the subcommands that write a registry's credentials.
const signingIn = "login logout adduser token"

// running lists the subcommands that start the command in the words after them.
var running = map[string]string{
	"npm": "exec x", "pnpm": "exec dlx", "yarn": "exec dlx", "bun": "x", "uv": "run", "poetry": "run", "pdm": "run", "hatch": "run", "dotnet": "", "bundle": "exec",
}

func publishes(s *scan, name string, args []value) {
	if has(args, "--dry-run", "--snapshot", "--help") {
		return
	}
	const why = "publishes or removes something that others see"
	if name == "semantic-release" || name == "release-it" || name == "np" {
		s.ask(why, name)
		return
	}
	for len(args) > 1 && hasField("--prefix -C --dir --cwd --filter --workspace -w --manifest-path --project", args[0].text) {
		args = args[2:]
	}
	sub, rest := first(args)
	second, _ := first(rest)
	for group := range strings.FieldsSeq(publishing[name]) {
		head, tail, both := strings.Cut(group, "+")
		if sub == head && (!both || second == tail) || !both && strings.HasPrefix(name, "gradle") && hasWord(args, head) || strings.HasPrefix(name, "mvn") && hasWord(args, head) {
			s.ask(why, name+" "+strings.ReplaceAll(group, "+", " "))
			return
		}
	}
	switch {
	case (name == "docker" || name == "podman") && (sub == "buildx" || sub == "build") && has(args, "--push"):
		s.ask(why, name+" build --push")
	case hasField("npm pnpm yarn docker podman helm cargo gem nerdctl", name) && hasField(signingIn, sub):
		s.ask("changes cloud or registry credentials", name+" "+sub)
	case sub != "" && hasField(running[name], sub):
		for len(rest) > 0 && strings.HasPrefix(rest[0].text, "-") {
			rest = rest[1:]
		}
		s.command(rest)
	}
}

// hasWord reports whether a task (also one of a subproject, as in :lib:publish) is named.
func hasWord(args []value, task string) bool {
	for _, a := range args {
		if a.text == task || strings.HasSuffix(a.text, ":"+task) {
			return true
		}
	}
	return false
}
