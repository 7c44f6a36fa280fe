package gate

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
)

// proveReadOnly returns "" when command is proved to change nothing: not a file,
// not the machine, and no other program is started or reached by it. Otherwise
// it says what stands in the way. Each binary has a list of what it may be given,
// never one of what it may not.
//
// What the proof takes for granted: the names mean the usual programs (PATH and
// the environment are the user's and cannot be set by a proved command).
func proveReadOnly(command string) string {
	if runtime.GOOS == "windows" { // its shells quote in other ways, and one looks in the folder before PATH
		return "nothing is proved read-only on Windows"
	}
	words, why := simple(command)
	if why != "" {
		return why
	}
	name, args := words[0], texts(words[1:])
	prove, known := provers[name.text]
	if !known || !name.bare {
		return fmt.Sprintf("%s is not on the list of commands that only read", clip(name.text))
	}
	if why := prove(args); why != "" {
		return name.text + ": " + why
	}
	return ""
}

// A prover returns "" when these arguments only make its binary read.
type prover func(args []string) (why string)

// provers holds every binary that can be proved. Missing on purpose, because some
// common use of them writes, executes or connects: awk, env, xargs, tar, less, man, xxd,
// base64, shasum, test and printf (shells evaluate subscripts in them), hostname, go, node, python, npm.
var provers = map[string]prover{
	// No option of these, in GNU, BSD or busybox, writes a file, starts a program or connects.
	"basename": anything, "cat": anything, "cksum": anything, "cmp": anything, "comm": anything, "cut": anything,
	"df": anything, "dirname": anything, "du": anything, "echo": anything, "expand": anything, "false": anything,
	"fold": anything, "free": anything, "groups": anything, "head": anything, "hexdump": anything,
	"id": anything, "join": anything, "ls": anything, "md5sum": anything, "nl": anything, "nproc": anything, "od": anything,
	"paste": anything, "printenv": anything, "ps": anything, "pwd": anything, "readlink": anything, "realpath": anything,
	"rev": anything, "seq": anything, "sha1sum": anything, "sha256sum": anything, "sha512sum": anything, "sleep": anything,
	"stat": anything, "sum": anything, "tac": anything, "tail": anything, "tr": anything, "true": anything, "tty": anything,
	"type": anything, "uname": anything, "unexpand": anything, "uptime": anything, "wc": anything, "which": anything, "whoami": anything,

	"arch":    oneOf(nil), // on one system it starts the command in its words
	"command": proveCommand,
	"date":    proveDate,
	"diff":    flags{short: "abBcdeEiNpqrstTuwy0123456789", value: "CUxWF", long: "brief recursive unified context side-by-side ignore-case ignore-all-space ignore-space-change ignore-blank-lines text new-file exclude color suppress-common-lines width strip-trailing-cr minimal report-identical-files no-dereference normal label show-c-function"}.prove,
	"fd":      proveFd, "fdfind": proveFd,
	"file": flags{short: "bhikLNr0", long: "brief mime mime-type mime-encoding no-dereference dereference keep-going no-pad raw extension"}.prove,
	"find": proveFind,
	"git":  proveGit,
	"grep": grepFlags.prove, "egrep": grepFlags.prove, "fgrep": grepFlags.prove,
	// One of its options for the filter's file may stand among others, and takes the next word.
	"jq": flags{short: "nrRsSaCMjcehVf", value: "L", long: "null-input raw-output raw-output0 raw-input slurp sort-keys ascii-output color-output monochrome-output " +
		"join-output compact-output exit-status tab indent arg argjson slurpfile rawfile args jsonargs from-file stream stream-errors seq unbuffered version help"}.prove,
	"rg":      flags{short: "aciFHhIlLNnoPpqSsUuvVwx0.", value: "ABCdeEfgjmMrtT", long: rgLong}.prove,
	"sed":     proveSed,
	"sort":    flags{short: "bdfghiMnRrVcCmsuz", value: "kt", long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated key field-separator"}.prove,
	"strings": proveStrings,
	// The values of tree's options never stand in the same word: what follows in it are more options.
	"tree": flags{short: "adfilpsughDFrtCJNqQxvcUSLPI", long: "dirsfirst noreport gitignore prune matchdirs ignore-case inodes device filelimit du si timefmt"}.prove,
	"uniq": flags{short: "cdDiuz", value: "fsw", long: "count repeated ignore-case skip-fields skip-chars unique check-chars zero-terminated", operands: 1}.prove,
}

// -z is missing: one implementation decompresses with it.
var grepFlags = flags{short: "abcEFGHhiILlnoPqRrsTUvVwxy0123456789", value: "ABCdDefm", long: "after-context before-context context color colour count " +
	"basic-regexp extended-regexp fixed-strings perl-regexp regexp file files-with-matches files-without-match ignore-case no-ignore-case include " +
	"exclude exclude-dir exclude-from invert-match line-number line-regexp max-count no-filename no-messages null only-matching quiet silent recursive " +
	"dereference-recursive text with-filename word-regexp binary-files directories devices label line-buffered initial-tab byte-offset version help"}

// Missing from it: pre, pre-glob, hostname-bin (programs), search-zip (starts decompressors).
const rgLong = "after-context before-context context case-sensitive color column count count-matches crlf debug encoding engine " +
	"field-context-separator field-match-separator file files files-with-matches files-without-match fixed-strings follow glob " +
	"glob-case-insensitive heading help hidden iglob ignore-case ignore-file include-zero invert-match json line-number line-regexp " +
	"max-columns max-columns-preview max-count max-depth max-filesize mmap multiline multiline-dotall no-config no-filename no-heading " +
	"no-hidden no-ignore no-ignore-dot no-ignore-global no-ignore-parent no-ignore-vcs no-line-number no-messages no-mmap null null-data " +
	"one-file-system only-matching passthru path-separator pcre2 pcre2-version quiet regexp replace smart-case sort sortr stats stop-on-nonmatch " +
	"text threads trim type type-not type-list unrestricted version vimgrep with-filename word-regexp"

func anything([]string) string { return "" }

// flags is a list of allowed options. Every word that begins with "-" must be
// made of them, wherever it stands and even after "--": a pattern that looks like
// an option costs the proof, and an option can never hide as a value.
type flags struct {
	short    string // letters without a value; may be bundled
	value    string // letters that take the rest of the word or the next word
	long     string // names, with or without "=value", unabbreviated
	operands int    // at most so many other words; 0 is no limit. What stands after the first one counts, options too: not every program looks for them there
}

func (f flags) prove(args []string) string {
	operands, over := 0, false
	for _, a := range args {
		if over || operands > 0 || !strings.HasPrefix(a, "-") || a == "-" {
			operands++
		}
		switch {
		case !strings.HasPrefix(a, "-") || a == "-":
		case a == "--":
			over = true
		case strings.HasPrefix(a, "--"):
			name, _, _ := strings.Cut(a[2:], "=")
			if !hasField(f.long, name) {
				return clip(a) + " is not on the list of options that only read"
			}
		default:
			if c, ok := f.bundle(a[1:]); !ok {
				return fmt.Sprintf("-%c is not on the list of options that only read", c)
			}
		}
	}
	if f.operands > 0 && operands > f.operands {
		return "it has an operand that may be written to"
	}
	return ""
}

// bundle checks the letters after one dash and returns the first that is refused.
func (f flags) bundle(letters string) (rune, bool) {
	for _, c := range letters {
		if strings.ContainsRune(f.value, c) {
			return 0, true
		}
		if !strings.ContainsRune(f.short, c) {
			return c, false
		}
	}
	return 0, true
}

func hasField(list, name string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == name {
			return true
		}
	}
	return false
}

// proveCommand allows the look-up of names only.
func proveCommand(args []string) string {
	if len(args) < 2 || (args[0] != "-v" && args[0] != "-V") {
		return "only command -v looks and does not run"
	}
	return flags{}.prove(args[1:])
}

// proveDate refuses any operand but a format: others set the clock.
func proveDate(args []string) string {
	for _, a := range args {
		if !strings.HasPrefix(a, "+") && !strings.HasPrefix(a, "-") || a == "-" {
			return "an operand may set the clock"
		}
	}
	return flags{short: "uRI", long: "utc universal date iso-8601 rfc-3339 rfc-email"}.prove(args)
}

// proveStrings refuses a word that names a file with more options.
func proveStrings(args []string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "@") {
			return clip(a) + " may be a file with options"
		}
	}
	return flags{short: "afdow", value: "nteUs", long: "all data print-file-name bytes radix include-all-whitespace encoding unicode output-separator version help"}.prove(args)
}

// proveFd refuses -x, -X (programs) and -l (runs ls).
func proveFd(args []string) string {
	return flags{short: "HIuaisgFpL0", value: "tedEcjS", long: "hidden no-ignore no-ignore-vcs absolute-path ignore-case case-sensitive glob fixed-strings follow full-path type extension max-depth min-depth exact-depth exclude color size changed-within changed-before max-results print0"}.prove(args)
}

// findTests are the words that find may be given: tests, and the actions that print.
const findTests = "amin and anewer atime cmin cnewer ctime daystart depth empty executable false follow fstype gid group iname inum ipath " +
	"iregex iwholename links ls maxdepth mindepth mmin mount mtime name newer newerct newermt nogroup not nouser o or a path perm print print0 printf prune quit " +
	"readable regex regextype samefile size true type uid used user wholename writable xdev xtype H L P E s x"

// findNumber is the argument of a test such as -mtime or -size.
var findNumber = regexp.MustCompile(`^-[0-9]+[cwbkMG]?$`)

// proveFind refuses -exec, -ok, -delete, -fprint and all that it does not know.
func proveFind(args []string) string {
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && !hasField(findTests, a[1:]) {
			if findNumber.MatchString(a) {
				continue
			}
			return clip(a) + " is not on the list of tests that only read"
		}
	}
	return ""
}

// sedPrints matches a script that only prints lines by number or by pattern, or
// stops: "1,40p", "10q", "/^func/p". A bracket in a pattern is refused, because sed
// implementations disagree on a slash inside of it.
var sedPrints = func() *regexp.Regexp {
	const addr = `(?:\+?[0-9]+|\$|/[^/\\\[\n]+/)`
	const command = `(?:` + addr + `(?:, ?` + addr + `)?[p=]|[0-9]+q)`
	return regexp.MustCompile(`^` + command + `(?:; ?` + command + `)*;?$`)
}()

// proveSed allows `sed -n SCRIPT FILE...` and `sed NUMBERq FILE...`.
func proveSed(args []string) string {
	if len(args) > 0 && args[0] == "-n" {
		args = args[1:]
	}
	if len(args) == 0 || !sedPrints.MatchString(args[0]) {
		return "only scripts that print lines are proved"
	}
	return flags{}.prove(args[1:])
}
