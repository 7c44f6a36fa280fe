package gate

import (
	"path"
	"slices"
	"strings"
)

// place is where a command stands: dir is relative to folder, or absolute, or
// begins with "~", or holds unknown.
type place struct {
	folder string // native absolute path
	dir    string
	home   string // where Plexus keeps its own files, "" when that is not known
}

// value is a word as far as it is known before the command runs. Text has no
// quotes; what only the shell will know is the byte unknown, and a process that
// the command itself started is ownJob. A home directory is "~".
type value struct {
	text string
	raw  string // as it was written, for the reasons
}

const (
	unknown = "\x00"
	ownJob  = "\x01"
)

// where says how a path lies to the folder.
type where int

const (
	inside  where = iota
	itself        // the folder or all of its content, or a directory that holds it
	outside       // certainly elsewhere
	unclear       // known only when the command runs
)

// locate resolves text from where the command stands. The path that it returns is
// relative to the folder for inside, and absolute or from "~" for outside.
func (p place) locate(text string) (where, string) {
	text = strings.ReplaceAll(text, `\`, "/")
	dir := strings.ReplaceAll(p.dir, `\`, "/")
	if !rooted(text) {
		if strings.HasPrefix(dir, unknown) {
			return unclear, text
		}
		text = dir + "/" + text
		if !rooted(dir) {
			text = strings.TrimPrefix(text, "/")
		}
	}
	known, rest, cut := strings.Cut(text, unknown)
	if cut { // judge by the directory that is certain
		known = known[:strings.LastIndex(known, "/")+1]
		if known == "" || strings.Contains(rest, "..") {
			return unclear, text
		}
	}
	w, resolved := p.resolve(known)
	if cut && w == itself {
		return unclear, text
	}
	return w, resolved
}

func (p place) resolve(text string) (where, string) {
	everything := false // a glob for all entries of a directory stands for the directory
	if base := path.Base(text); base == "*" || base == ".*" || base == "**" {
		everything = true
		text = path.Dir(text)
	}
	folder := tilde(strings.ReplaceAll(p.folder, `\`, "/"))
	if !rooted(text) {
		text = path.Join(folder, text)
		if folder == "" {
			text = path.Join("/folder", text)
		}
	}
	if folder == "" { // nowhere in particular: only what is relative is in it
		folder = "/folder"
	}
	full := tilde(path.Clean(text))
	switch {
	case full == folder:
		return itself, full
	case strings.HasPrefix(folder, strings.TrimSuffix(full, "/")+"/") && !everything:
		return itself, full
	case strings.HasPrefix(full, strings.TrimSuffix(folder, "/")+"/"):
		return inside, strings.TrimPrefix(full, strings.TrimSuffix(folder, "/")+"/")
	}
	return outside, full
}

// rooted reports whether a path does not depend on where the command stands.
func rooted(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || (len(p) > 2 && p[1] == ':' && p[2] == '/')
}

// tilde spells a path in a home directory from "~", whoever's it is, so that
// one table names the places that matter.
func tilde(p string) string {
	for _, parent := range []string{"/home/", "/Users/", "C:/Users/"} {
		if rest, ok := strings.CutPrefix(p, parent); ok && rest != "" {
			if _, in, deeper := strings.Cut(rest, "/"); deeper {
				return "~/" + in
			}
			return "~"
		}
	}
	if p == "/root" || strings.HasPrefix(p, "/root/") {
		return "~" + p[len("/root"):]
	}
	return p
}

// keep is a place whose change a person wants to know of, with why.
type keep struct {
	why   string
	paths []string // prefixes by whole names
}

var keeps = []keep{
	{"changes what a shell or the desktop runs when it starts", []string{
		"~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.bash_aliases", "~/.profile", "~/.zshrc", "~/.zshenv", "~/.zprofile",
		"~/.zlogin", "~/.zlogout", "~/.kshrc", "~/.cshrc", "~/.tcshrc", "~/.login", "~/.xprofile", "~/.xinitrc", "~/.xsession", "~/.inputrc",
		"~/.config/fish", "~/.config/autostart", "~/.config/systemd", "~/.config/environment.d", "~/.config/powershell",
		"~/Documents/PowerShell", "~/Documents/WindowsPowerShell", "~/Library/LaunchAgents",
		"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/bashrc", "/etc/zsh", "/etc/zshrc", "/etc/zshenv", "/etc/zprofile", "/etc/environment"}},
	{"changes ssh keys or settings", []string{"~/.ssh", "/etc/ssh"}},
	{"changes cloud or registry credentials", []string{
		"~/.aws", "~/.azure", "~/.config/gcloud", "~/.kube", "~/.docker", "~/.oci", "~/.config/gh", "~/.config/doctl", "~/.config/rclone", "~/.terraform.d",
		"~/.terraformrc", "~/.boto", "~/.netrc", "~/_netrc", "~/.npmrc", "~/.yarnrc", "~/.yarnrc.yml", "~/.pypirc", "~/.pgpass", "~/.my.cnf",
		"~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.m2/settings.xml", "~/.m2/settings-security.xml", "~/.gnupg", "~/.password-store"}},
	{"changes git credentials or the user's git settings", []string{"~/.git-credentials", "~/.gitconfig", "~/.config/git", "/etc/gitconfig"}},
	{"writes to a system path", []string{
		"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/dev", "/proc", "/sys", "/opt", "/run", "/var", "/System", "/Library", "/Applications",
		"/private/etc", "C:/Windows", "C:/Program Files", "C:/Program Files (x86)"}},
}

// harmless are places below the ones in keeps that anybody writes to.
var harmless = []string{"/dev/null", "/dev/zero", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/fd", "/dev/full", "/dev/shm", "/var/tmp", "/var/folders",
	"/proc/self/fd"}

// keeping returns why a path outside the folder should be left alone, "" for no reason.
func keeping(full string) string {
	for _, h := range harmless {
		if under(full, h) {
			return ""
		}
	}
	for _, k := range keeps {
		for _, p := range k.paths {
			if under(full, p) {
				return k.why
			}
		}
	}
	return ""
}

func under(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir+"/")
}

// gitRuns reports whether a path in the folder is something that git itself will
// run or obey the next time anybody uses the repository: hooks and settings, also those of submodules and worktrees,
// and .git itself, which as a file names another repository.
func gitRuns(rel string) bool {
	parts := strings.Split(strings.ReplaceAll(strings.ToLower(rel), "git~1", ".git"), "/")
	i := slices.Index(parts, ".git")
	if i < 0 {
		return false
	}
	in := parts[i+1:]
	return len(in) == 0 || hasField("hooks modules worktrees config config.worktree commondir", in[0]) || in[len(in)-1] == "git-rebase-todo"
}
