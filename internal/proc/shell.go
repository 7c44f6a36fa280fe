package proc

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// shell is a program that runs one command line.
type shell struct {
	path string
	args []string // in front of the command
}

var posixShells = []string{"bash", "zsh", "sh", "dash", "ksh", "mksh", "ash"}

// chooseShell finds the wanted shell; without a wish the user's own when it
// understands POSIX commands, which is what models write.
func chooseShell(wanted string, env []string) shell {
	if wanted != "" {
		return findShell(wanted)
	}
	if user := lookup(env, "SHELL"); slices.Contains(posixShells, shellName(user)) {
		if s := findShell(user); s.path != "" {
			return s
		}
	}
	candidates := []string{"bash", "sh"}
	if runtime.GOOS == "windows" {
		candidates = append(candidates, "pwsh", "powershell")
	}
	for _, name := range candidates {
		if s := findShell(name); s.path != "" {
			return s
		}
	}
	return shell{}
}

func findShell(name string) shell {
	path, err := exec.LookPath(name)
	if err != nil {
		return shell{}
	}
	switch shellName(path) {
	case "pwsh", "powershell":
		return shell{path, []string{"-NoProfile", "-NonInteractive", "-Command"}}
	case "cmd":
		return shell{path, []string{"/d", "/s", "/c"}}
	default:
		return shell{path, []string{"-c"}}
	}
}

func shellName(path string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
}
