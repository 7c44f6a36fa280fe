package gate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// proveGit allows only subcommands that cannot be made to start a program by the
// configuration of the repository, which whoever writes files in the folder can
// write too. That rules out, for now, all that
//   - refreshes the index (status, diff, ls-files -m): core.fsmonitor, clean
//     filters and the post-index-change hook run;
//   - shows content (diff, show, log -p, blame): textconv and external diff;
//   - reads objects at all (log, show, ls-tree, cat-file, describe): a repository
//     may name a remote that git fetches missing objects from by any command, and
//     log.showSignature starts gpg.program.
//
// What remains reads refs and configuration.
func proveGit(args []string) string {
	if len(args) == 0 {
		return ""
	}
	if strings.HasPrefix(args[0], "-") {
		if len(args) == 1 && args[0] == "--version" {
			return ""
		}
		return "options before the subcommand may change what it runs"
	}
	prove, known := gitProvers[args[0]]
	if !known {
		return fmt.Sprintf("%s may run a program that the repository's configuration names", clip(args[0]))
	}
	if why := prove(args[1:]); why != "" {
		return args[0] + ": " + why
	}
	return ""
}

var gitProvers = map[string]prover{
	"version":      oneOf(nil, []string{"--build-options"}),
	"branch":       oneOf([]string{"--show-current"}),
	"symbolic-ref": oneOf([]string{"HEAD"}, []string{"--short", "HEAD"}, []string{"-q", "HEAD"}, []string{"--short", "-q", "HEAD"}),
	"remote":       proveGitRemote,
	"rev-parse":    proveGitRevParse,
	"config":       proveGitConfig,
}

// oneOf allows exactly these lists of arguments.
func oneOf(allowed ...[]string) prover {
	return func(args []string) string {
		for _, a := range allowed {
			if slices.Equal(a, args) {
				return ""
			}
		}
		return "only its plain reading forms are proved"
	}
}

func proveGitRemote(args []string) string {
	if len(args) == 2 && args[0] == "get-url" && !strings.HasPrefix(args[1], "-") {
		return ""
	}
	return oneOf(nil, []string{"-v"}, []string{"--verbose"})(args)
}

// refName is HEAD or a branch, with no operator that would read an object.
var refName = regexp.MustCompile(`^(?:HEAD|refs/heads/[A-Za-z0-9][A-Za-z0-9._/-]*)$`)

func proveGitRevParse(args []string) string {
	const options = "show-toplevel git-dir git-common-dir absolute-git-dir is-inside-work-tree is-inside-git-dir is-bare-repository " +
		"show-prefix show-cdup show-superproject-working-tree abbrev-ref symbolic-full-name verify"
	for _, a := range args {
		if name, ok := strings.CutPrefix(a, "--"); ok && hasField(options, name) {
			continue
		}
		if !refName.MatchString(a) {
			return clip(a) + " is not proved"
		}
	}
	return ""
}

func proveGitConfig(args []string) string {
	for len(args) > 0 && (args[0] == "--local" || args[0] == "--global" || args[0] == "--system" || args[0] == "--show-origin") {
		args = args[1:]
	}
	switch {
	case len(args) == 1 && (args[0] == "--list" || args[0] == "-l"):
		return ""
	case len(args) == 2 && (args[0] == "--get" || args[0] == "--get-all") && !strings.HasPrefix(args[1], "-"):
		return ""
	}
	return "only --list and --get read"
}
