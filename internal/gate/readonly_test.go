package gate

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// proved is what the fast path is for.
var proved = []string{
	"ls", "ls -la", "  ls -la src/ \n", "pwd", "cat README.md go.mod", "head -n 20 main.go", "tail -5 log.txt", "wc -l main.go",
	`grep -rn "TODO|FIXME" src`, "grep -rin 'curl x | sh' .", `grep -n "a > b; c && d" f`, "grep -A3 -B 3 --include=*.go x . " + "-e y", "grep -c '' f",
	`rg -n "sudo rm -rf /" src`, "rg --files", "rg -tgo -i foo", "rg --glob='*.go' foo", "rg -C3 foo", "fd -e go", "fd -t f main",
	"find . -name '*.go' -type f", "find . -maxdepth 2 -not -path './node_modules/*'", "find src -newer go.mod -size +10k -mtime -7", "find . '(' -name a -o -name b ')' -print",
	"sed -n '1,40p' main.go", "sed -n 5p f", "sed 10q f", "sed -n '/^func/p' main.go", "sed -n '1,5p;10,$p' f", "sed -n '$=' f", "sed -n '/a/,+3p' f",
	"sort -rn f", "sort -k2,3n -t, f", "sort --reverse f", "uniq -c f", "uniq -cd", "tree -L 2", "tree --dirsfirst -I 'a|b'", "diff -u a b", "diff --brief -r a b",
	"stat f", "file -b f", "du -sh .", "which go", "command -v go", "date", "date +%s", "date -u +%F", "ps aux", "uname -a", "jq .name package.json", "jq '.a | .b' f", "jq -r --arg a b '.x[$a]' f", "jq -rc . f", "jq --indent 2 . f", "strings -n 8 f", "strings f", "arch", "uniq -- f", "uniq", "sort -- f", "grep -- x f",
	"cut -d: -f1 f", "tr a-z A-Z", "echo 'rm -rf /; sudo x'", "echo \"hello > world\"", "printenv PATH", "sha256sum f", "realpath .", "basename a/b", "true",
	"git rev-parse --show-toplevel", "git rev-parse --abbrev-ref HEAD", "git rev-parse HEAD", "git branch --show-current", "git remote -v", "git remote get-url origin",
	"git config --get user.name", "git config --list", "git symbolic-ref --short HEAD", "git --version", "git version", "cat 'a b.txt'", "cat übung.txt", "ls ./-x",
}

// evasions change something, run something or connect, in some shell or by some
// configuration, or cannot be told from commands that do.
var evasions = []string{
	"", " ", "# ls", "ls # x", "ls;", "ls &", "ls; rm x", "ls && rm x", "ls || rm x", "ls | tee x", "! ls", "ls\nrm x", "ls\r\nrm x", "ls\rrm x", "ls \\\nx",
	"ls > x", "ls >> x", "ls 2>x", "ls &> x", "ls < x", "ls <<< x", "cat <<EOF\nx\nEOF", "ls >| x", "(ls)", "{ ls; }", "if ls; then ls; fi", "time ls", "coproc ls",
	"X=1 ls", "PATH=. ls", "LD_PRELOAD=./x.so ls", "ls $(rm x)", "ls `rm x`", "ls \"$(rm x)\"", "ls \"`rm x`\"", "ls $HOME", "ls ${x:=y}", "ls \"$x\"", "ls $'a'", `ls $"a"`, "ls <(rm x)", "ls >(rm x)",
	"ls *", "ls ?", "ls [a]", "ls ~", "ls {a,b}", "sort {-o,f}", "ls a\\ b", "l\\s", "'ls'", "\"ls\"", "./ls", "/bin/ls", "l''s", "=ls", "ls =ls", "ls !x", "ls !!", "echo \"a!b\"", "ls ^x", "echo $((1))", "echo $[1]",
	"grep 'a\\' f' ; rm x '", "cat 'a\nb'", "echo \"a\\\"b\"", "ls\x00rm", "ls \xff", "ls \u2028x y\u0007", "@(ls)", "ls @(a|b)", "ls x=(a)", "a[$(rm x)]=1", "function ls { rm x; }; ls", "ls() { rm x; }",
	"rm x", "mv a b", "cp a b", "touch x", "mkdir x", "tee x", "dd if=a of=b", "chmod +x x", "ln -s a b", "truncate -s0 x", "install a b",
	"env ls", "xargs ls", "awk '{print}' f", "tar tf x.tar", "nohup ls", "nice ls", "timeout 5 ls", "command ls", "builtin ls", "exec ls", "eval ls", "sudo ls", "busybox ls", "bash -c ls", "sh x", ". x", "source x", "test -v 'a[$(rm x)]'", "[ -v 'a[$(rm x)]' ]",
	"printf -v 'a[$(rm x)]' y", "printf '%n' 'a[$(rm x)]'", "less f", "more f", "man ls", "vi f", "ed f", "python -c pass", "perl -e 1", "node -e 1", "make", "make -n", "go version", "go env", "npm --version",
	"find . -delete", "find . -exec rm {} ';'", "find . -exec rm '{}' ';'", "find . -execdir ls ';'", "find . -ok ls ';'", "find . -okdir ls ';'", "find . -fprintf x %p", "find . -fprint x", "find . -fprint0 x", "find . -fls x", "find . -files0-from x", "find . '-delete'", "find . -name x \"-exec\" ls ';'",
	"rg --pre ./x foo", "rg --pre=./x foo", "rg foo --pre ./x", "rg '--pre=./x' foo", "rg -z foo", "rg --search-zip foo", "rg -nz foo", "rg --hostname-bin=./x foo", "rg --pre-glob x foo", "grep -z x f", "grep --decompress x f",
	"fd -x rm", "fd -e go -x rm", "fd --exec rm", "fd -X rm", "fd -Hx rm", "fd -l", "fd --exec-batch rm", "fd --list-details",
	"sed -i s/a/b/ f", "sed -n -i 1p f", "sed -n 1p f -i", "sed -n 1p f --in-place", "sed -ni 1p f", "sed -n 'w x' f", "sed -n '1w x' f", "sed -n '1p;1w x' f", "sed -n 1e f", "sed -n '1e rm x' f", "sed 's/a/b/e' f", "sed 's/a/b/w x' f", "sed -n '/a/w x' f", "sed -n '/[/]p;w x;/p' f", "sed -n -f x f", "sed -nf x f", "sed -e 1p f", "sed -n '1p\nw x' f", "sed --expression=1p f", "sed -n '1r x' f", "sed s/a/b/ f",
	"sort -o x f", "sort -ox f", "sort -no x f", "sort f -o x", "sort --output=x f", "sort --outp=x f", "sort --compress-program=./x f", "sort -T . f", "sort -- -o x", "uniq a b", "uniq -- in -c", "uniq -- -c in", "uniq in -c", "uniq -c -- in out", "uniq in -", "uniq - out", "uniq -- in --", "uniq -w -- in -c", "uniq +1 in", "uniq in +1", "uniq -1 in", "uniq --count in out", "uniq --c in", "uniq --skip-fields=1 in out", "uniq -f1 -- in -c",
	"arch rm -rf /", "arch -x86_64 rm x", "arch --", "arch ''", "git remote ''", "arch -h", "jq -i . f", "jq --in-place . f", "jq -ri . f", "jq --unknown . f", "strings @f", "strings -- @f", "strings -T x f", "strings --target=x f", "date -", "date -- 010112002020",
	"sort --o=x f", "sort --compress=./x f", "sort +1 -2 -ox f", "sort -k1 -- f -ox", "sort -1 -o x", "diff --from-file=a --pag b", "diff -5l a b", "grep --de x", "rg --pr=./x y", "fd --ex rm", "fd -- -x rm", "tree --out=x", "tree -- -o x", "find . -- -delete", "find -O3 . -delete", "find -D exec .", "file --com -m x", "date --s=x", "sed -n -- 1p f", "sed --quiet 1p f", "sed -n 1p -- -i f",
	"uniq -f 1 a b", "uniq -f1 a b", "tree -o x", "tree -Lo 2 x", "tree -ao x", "tree -R -H . -L 1", "diff --paginate a b", "diff -l a b", "diff -ul a b", "diff -D x a b",
	"date -s 2020-01-01", "date --set=2020-01-01", "date 010112002020", "date -us x", "file -C -m x", "file -z x", "file -p x", "command -p rm", "hostname x", "shasum -c x", "xxd a b", "base64 -o x f",
	"git", "git status -s; x", "git -c core.pager=./x log", "git -p log", "git --exec-path=. x", "git -C x status", "git --git-dir=x status", "git status", "git diff", "git log", "git log -p", "git show", "git blame f", "git grep x", "git grep -O./x x", "git branch x", "git branch -D x", "git branch --list", "git tag", "git tag x", "git stash", "git fetch", "git push", "git remote add x y", "git remote update", "git remote show origin", "git remote -v update", "git config x y", "git config --global x y", "git config --unset x", "git config --edit", "git config --get", "git config --get -e",
	"git rev-parse HEAD~1", "git rev-parse --git-path hooks", "git rev-parse 'HEAD^{tree}'", "git rev-parse abc123", "git rev-parse --parseopt", "git symbolic-ref HEAD refs/heads/x", "git symbolic-ref -d HEAD", "git archive --output=x HEAD", "git log --output=x", "git diff --output=x", "git diff --ext-diff", "git ls-files", "git ls-files -m", "git cat-file -p HEAD", "git cat-file --textconv HEAD:f", "git ls-remote x", "git hook run x", "git x", "git bisect run ./x", "git version x", "git version --x",
	"if then", "ls 'unclosed", "ls )", strings.Repeat("(", 70_000), strings.Repeat("$(", 5_000), "ls " + strings.Repeat("x", maxCommand),
}

func TestReadOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nothing is proved on Windows")
	}
	for _, c := range proved {
		c = strings.ReplaceAll(c, "--include=*.go", "--include='*.go'")
		if got := classify(c, place{folder: "/home/u/proj"}); !got.ReadOnly || !strings.Contains(got.Why, "only reads") || len(got.Danger) != 0 {
			t.Errorf("%q: not proved: %s %q", c, got.Why, got.Danger)
		}
	}
	for _, c := range evasions {
		if c == "git" {
			continue // prints its help
		}
		if got := classify(c, place{folder: "/home/u/proj"}); got.ReadOnly || got.Why == "" || strings.Contains(got.Why, "it only reads") {
			t.Errorf("%.80q: proved, but must not be", c)
		}
	}
}

// TestProvedGitRunsNothing gives every proved git command a repository whose
// configuration names a program wherever git knows one, and looks whether any was
// run. As a check of the check, a command that is not proved does run one.
func TestProvedGitRunsNothing(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no git in a POSIX system")
	}
	repo, ran := trapped(t, git)
	run := func(args []string) {
		cmd := exec.Command(git, args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
		_ = cmd.Run() // some fail, as they should
	}
	tried := 0
	for _, c := range proved {
		words, why := simple(c)
		if why != "" || words[0].text != "git" {
			continue
		}
		tried++
		if run(texts(words[1:])); exists(ran) {
			t.Fatalf("%q ran a program of the repository's configuration", c)
		}
	}
	if tried < 10 {
		t.Fatalf("only %d commands tried", tried)
	}
	if run([]string{"status"}); !exists(ran) {
		t.Error("the trap does not work: git status ran nothing")
	}
}

// trapped makes a repository that runs a program whenever it can; the file ran
// appears when it does.
func trapped(t *testing.T, git string) (repo, ran string) {
	dir := t.TempDir()
	repo, ran = filepath.Join(dir, "repo"), filepath.Join(dir, "ran")
	script := filepath.Join(dir, "trap.sh")
	write(t, script, "#!/bin/sh\necho x >> '"+ran+"'\nexit 1\n", 0o755)
	for _, args := range [][]string{{"init", "-q", "-b", "main", repo}, {"-C", repo, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
		if out, err := exec.Command(git, args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write(t, filepath.Join(repo, "f"), "text\n", 0o644)
	write(t, filepath.Join(repo, ".gitattributes"), "* filter=trap diff=trap\n", 0o644)
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external", "diff.trap.textconv", "diff.trap.command", "filter.trap.clean",
		"filter.trap.smudge", "filter.trap.process", "gpg.program", "credential.helper", "pager.branch", "pager.config", "pager.remote", "pager.rev-parse", "alias.branch", "interactive.diffFilter",
		"sequence.editor", "remote.origin.uploadpack", "trailer.x.command", "uploadpack.packObjectsHook"} {
		if out, err := exec.Command(git, "-C", repo, "config", key, script).CombinedOutput(); err != nil {
			t.Fatalf("git config %s: %v\n%s", key, err, out)
		}
	}
	for key, v := range map[string]string{"log.showSignature": "true", "core.hooksPath": dir, "protocol.ext.allow": "always", "remote.origin.url": "ext::" + script, "remote.origin.promisor": "true", "extensions.partialClone": "origin"} {
		if out, err := exec.Command(git, "-C", repo, "config", key, v).CombinedOutput(); err != nil {
			t.Fatalf("git config %s: %v\n%s", key, err, out)
		}
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"} {
		write(t, filepath.Join(dir, hook), "#!/bin/sh\nexec '"+script+"'\n", 0o755)
	}
	// A missing object makes whatever reads it fetch from the promisor.
	objects, err := filepath.Glob(filepath.Join(repo, ".git", "objects", "??", "*"))
	if err != nil || len(objects) == 0 {
		t.Fatalf("no objects: %v", err)
	}
	for _, o := range objects {
		if err := os.Remove(o); err != nil {
			t.Fatal(err)
		}
	}
	if exists(ran) {
		if err := os.Remove(ran); err != nil {
			t.Fatal(err)
		}
	}
	return repo, ran
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
