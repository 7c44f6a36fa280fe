package proc

import (
	"runtime"
	"slices"
	"strings"
)

// forced makes what would wait for a person fail or answer at once.
var forced = []string{
	"TERM=dumb", "NO_COLOR=1",
	"PAGER=cat", "GIT_PAGER=cat", "GH_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "AWS_PAGER=",
	"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true",
	"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive",
}

// removed would colour output, change what tools do, or open a window that
// asks for a password.
var removed = []string{
	"CI", "COLORTERM", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR",
	"SSH_ASKPASS", "GIT_ASKPASS", "SUDO_ASKPASS", "OLDPWD",
}

// ownPrefix begins the names of Plexus' own variables, secrets among them.
const ownPrefix = "PLEXUS_"

// markName is the variable by which a process is known to belong to a
// command, wherever it went.
const markName = "PLEXUS_CALL"

// safeEnv is the environment of commands.
func safeEnv(base []string) []string {
	var env []string
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if name != "" && !isOurs(name) && !isSet(forced, name) && !slices.ContainsFunc(removed, func(r string) bool { return sameName(r, name) }) {
			env = append(env, entry)
		}
	}
	return append(env, forced...)
}

func isOurs(name string) bool {
	return len(name) >= len(ownPrefix) && sameName(name[:len(ownPrefix)], ownPrefix)
}

func isSet(env []string, name string) bool {
	return slices.ContainsFunc(env, func(entry string) bool {
		key, _, _ := strings.Cut(entry, "=")
		return sameName(key, name)
	})
}

// lookup returns the last value of a variable, as a shell would see it.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && sameName(key, name) {
			return value
		}
	}
	return ""
}

func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
