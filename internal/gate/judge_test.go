package gate

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plexus/internal/store"
	"plexus/internal/tool"
)

func TestParseLevel(t *testing.T) {
	for _, ok := range []Level{Manual, AutoReview, Full} {
		if got, err := ParseLevel(string(ok)); got != ok || err != nil {
			t.Errorf("%s: %s, %v", ok, got, err)
		}
	}
	for _, bad := range []string{"", "none", "FULL", "auto"} {
		if _, err := ParseLevel(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestStricter(t *testing.T) {
	for _, tt := range [][3]Level{
		{Manual, Full, Manual}, {Full, Manual, Manual}, {AutoReview, Full, AutoReview}, {Manual, AutoReview, Manual}, {Full, Full, Full},
		{"", Full, Full}, {Full, "", Full}, {"", "", ""}, {"odd", Full, "odd"}, {Full, "odd", "odd"},
	} {
		if got := Stricter(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%q and %q: %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

func command(c string) tool.Subject { return tool.Subject{Title: c, Command: c} }

func TestJudge(t *testing.T) {
	exact := []store.Rule{{ID: "r1", Kind: RuleExact, Pattern: "git push --force"}}
	prefix := []store.Rule{{ID: "r2", Kind: RulePrefix, Pattern: "git push"}, {ID: "r3", Kind: RulePrefix, Pattern: "go test"}}
	writes := []store.Rule{{ID: "r4", Kind: RuleWrite, Pattern: "write a.go"}}
	inBuild := []store.Rule{{ID: "r5", Kind: RuleExact, Pattern: "rm -rf *", Dir: "build"}}
	inTurned := []store.Rule{{ID: "r6", Kind: RuleExact, Pattern: "rm -rf *", Dir: "link/.."}}
	emptying := func(dir string) tool.Subject { return tool.Subject{Command: "rm -rf *", Dir: dir} }
	file := tool.Subject{Title: "write a.go", Paths: []string{"a.go"}}
	for name, tt := range map[string]struct {
		q       Question
		ask     bool
		reasons []string // parts, one for each reason
		rule    string
	}{
		"read":                                  {q: Question{Level: Manual, Class: tool.ClassRead, Review: true}},
		"manual, read-only command":             {q: Question{Level: Manual, Class: tool.ClassExec, Subject: command("ls")}, ask: true, reasons: []string{"every command"}},
		"manual, write":                         {q: Question{Level: Manual, Class: tool.ClassWrite, Subject: file}, ask: true, reasons: []string{"every write"}},
		"manual, write of another file":         {q: Question{Level: Manual, Class: tool.ClassWrite, Subject: tool.Subject{Title: "write b.go", Paths: []string{"b.go"}}, Rules: writes}, ask: true, reasons: []string{"every write"}},
		"manual, danger":                        {q: Question{Level: Manual, Class: tool.ClassExec, Subject: command("sudo ls")}, ask: true, reasons: []string{"another user", "every command"}},
		"unknown level":                         {q: Question{Level: "odd", Class: tool.ClassExec, Subject: command("ls")}, ask: true, reasons: []string{"every command"}},
		"no level":                              {q: Question{Class: tool.ClassExec, Subject: command("ls")}, ask: true, reasons: []string{"every command"}},
		"unknown class":                         {q: Question{Level: AutoReview, Class: "odd", Subject: command("sudo ls")}, ask: true, reasons: []string{"another user"}},
		"auto":                                  {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: command("go build")}},
		"auto, danger":                          {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: command("git push -f")}, ask: true, reasons: []string{"forced push"}},
		"auto, review":                          {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: command("go build"), Review: true}, ask: true, reasons: []string{"the model asked"}},
		"auto, write":                           {q: Question{Level: AutoReview, Class: tool.ClassWrite, Subject: file}},
		"auto, write under review":              {q: Question{Level: AutoReview, Class: tool.ClassWrite, Subject: file, Review: true}, ask: true, reasons: []string{"the model asked"}},
		"auto, write of a hook":                 {q: Question{Level: AutoReview, Class: tool.ClassWrite, Folder: folder, Subject: tool.Subject{Paths: []string{"x", ".git/hooks/pre-commit"}}}, ask: true, reasons: []string{"git runs"}},
		"auto, write of a hook by virtual name": {q: Question{Level: AutoReview, Class: tool.ClassWrite, Folder: folder, Subject: tool.Subject{Paths: []string{"/proj/.git/config"}}}, ask: true, reasons: []string{"git runs"}},
		"auto, write in the home":               {q: Question{Level: AutoReview, Class: tool.ClassWrite, Folder: "/home/u", Subject: tool.Subject{Paths: []string{".bashrc"}}}, ask: true, reasons: []string{"starts"}},
		"auto, from a subfolder":                {q: Question{Level: AutoReview, Class: tool.ClassExec, Folder: folder, Subject: tool.Subject{Command: "rm -rf ../x", Dir: "sub"}}},
		"auto, from a subfolder out":            {q: Question{Level: AutoReview, Class: tool.ClassExec, Folder: folder, Subject: tool.Subject{Command: "rm -rf ../../x", Dir: "sub"}}, ask: true, reasons: []string{"outside"}},
		"auto, a subfolder itself":              {q: Question{Level: AutoReview, Class: tool.ClassExec, Folder: folder, Subject: tool.Subject{Command: "rm -rf *", Dir: "sub"}}},
		"auto, no command":                      {q: Question{Level: AutoReview, Class: tool.ClassExec}},
		"full":                                  {q: Question{Level: Full, Class: tool.ClassExec, Subject: command("sudo rm -rf /"), Review: true}},
		"exact rule":                            {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: command(" git push --force\n"), Rules: exact}, rule: "r1"},
		"exact rule, manual, review":            {q: Question{Level: Manual, Class: tool.ClassExec, Subject: command("git push --force"), Rules: exact, Review: true}, rule: "r1"},
		"exact rule, more":                      {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: command("git push --force x"), Rules: exact}, ask: true, reasons: []string{"forced push"}},
		"exact rule, its directory":             {q: Question{Level: Manual, Class: tool.ClassExec, Subject: emptying("build"), Rules: inBuild}, rule: "r5"},
		"exact rule, its directory spelled":     {q: Question{Level: Manual, Class: tool.ClassExec, Subject: emptying("./build//"), Rules: inBuild}, rule: "r5"},
		"exact rule, the folder":                {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: emptying(""), Rules: inBuild}, ask: true, reasons: []string{"all in it"}},
		"exact rule, the folder by a dot":       {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: emptying("."), Rules: inBuild}, ask: true, reasons: []string{"all in it"}},
		"exact rule, another directory":         {q: Question{Level: Manual, Class: tool.ClassExec, Subject: emptying("src"), Rules: inBuild}, ask: true, reasons: []string{"every command"}},
		"exact rule, a way through a link":      {q: Question{Level: Manual, Class: tool.ClassExec, Subject: emptying("build/link/.."), Rules: inBuild}, ask: true, reasons: []string{"every command"}},
		"exact rule, the same way":              {q: Question{Level: Manual, Class: tool.ClassExec, Subject: emptying("link/.."), Rules: inTurned}, rule: "r6"},
		"exact rule of the folder, with a dot":  {q: Question{Level: Manual, Class: tool.ClassExec, Subject: tool.Subject{Command: "git push --force", Dir: "./"}, Rules: exact}, rule: "r1"},
		"prefix rule":                           {q: Question{Level: Manual, Class: tool.ClassExec, Subject: command("go test ./... -run 'A|B'"), Rules: prefix}, rule: "r3"},
		"prefix rule and danger":                {q: Question{Level: Manual, Class: tool.ClassExec, Subject: command("git push --force"), Rules: prefix}, ask: true, reasons: []string{"forced push", "every command"}},
		"prefix rule and a tail":                {q: Question{Level: Manual, Class: tool.ClassExec, Subject: command("go test; rm x"), Rules: prefix}, ask: true, reasons: []string{"every command"}},
		"write rule":                            {q: Question{Level: Manual, Class: tool.ClassWrite, Subject: file, Rules: writes}, rule: "r4"},
		"write rule and danger":                 {q: Question{Level: AutoReview, Class: tool.ClassWrite, Folder: folder, Subject: tool.Subject{Paths: []string{".git/config"}}, Rules: writes}, ask: true, reasons: []string{"git runs"}},
		"write rule and a command":              {q: Question{Level: Manual, Class: tool.ClassExec, Subject: command("ls"), Rules: writes}, ask: true, reasons: []string{"every command"}},
		"nothing to spare":                      {q: Question{Level: AutoReview, Class: tool.ClassExec, Subject: command("go test"), Rules: prefix}},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.q.Folder == "" {
				tt.q.Folder = folder
			}
			v := Judge(tt.q)
			if v.Ask != tt.ask || v.Rule != tt.rule || v.Reasons == nil || len(v.Reasons) != len(tt.reasons) {
				t.Fatalf("%+v, want ask %v, rule %q, reasons %q", v, tt.ask, tt.rule, tt.reasons)
			}
			for i, part := range tt.reasons {
				if !strings.Contains(v.Reasons[i], part) {
					t.Errorf("reason %q, want %q", v.Reasons[i], part)
				}
			}
		})
	}
}

func TestPrefixRules(t *testing.T) {
	for _, c := range []string{"go test", "go test ./...", "  go   test -run 'a b' ./x\n", "'go' \"test\" -v"} {
		if !hasPrefix(c, "go test") {
			t.Errorf("%q does not match", c)
		}
	}
	for _, c := range []string{"", "go", "go tests", "go build", "go test;ls", "go test && ls", "go test | tee x", "go test > x", "go test $X", "go test `ls`", "go test *", "go test \\\n ls", "go test\nls",
		"X=1 go test", "go test &", "(go test)", "go test # x", "./go test", "go test {a,b}", "go 'test x'", "! go test"} {
		if hasPrefix(c, "go test") {
			t.Errorf("%q matches", c)
		}
	}
}

func TestCheckRule(t *testing.T) {
	for _, ok := range [][2]string{{RuleExact, "a | b"}, {RulePrefix, "go test"}, {RulePrefix, "make"}, {RuleWrite, "write a.go"}} {
		if err := CheckRule(ok[0], ok[1]); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range [][2]string{{RuleExact, " "}, {RulePrefix, ""}, {RulePrefix, "a | b"}, {RulePrefix, "bash -c"}, {RulePrefix, "sudo"}, {RulePrefix, "env X=1"}, {RulePrefix, "xargs"}, {RuleWrite, ""}, {"odd", "x"}} {
		if err := CheckRule(bad[0], bad[1]); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// A stricter level never asks less, and full never asks.
func TestLevelsAreOrdered(t *testing.T) {
	var commands []string
	for _, list := range dangers {
		commands = append(commands, list...)
	}
	commands = append(commands, harmlessCommands...)
	slices.Sort(commands)
	rapid.Check(t, func(t *rapid.T) {
		q := Question{
			Class:   rapid.SampledFrom([]tool.Class{tool.ClassRead, tool.ClassWrite, tool.ClassExec}).Draw(t, "class"),
			Subject: tool.Subject{Command: rapid.SampledFrom(commands).Draw(t, "command"), Paths: []string{rapid.SampledFrom([]string{"a", ".git/config"}).Draw(t, "path")}},
			Review:  rapid.Bool().Draw(t, "review"), Folder: folder,
		}
		ask := map[Level]bool{}
		for _, l := range []Level{Manual, AutoReview, Full} {
			q.Level = l
			v := Judge(q)
			if ask[l] = v.Ask; v.Ask != (len(v.Reasons) > 0) {
				t.Fatalf("%s: asks %v for %q", l, v.Ask, v.Reasons)
			}
		}
		if ask[Full] || ask[AutoReview] && !ask[Manual] {
			t.Fatalf("asks %v", ask)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	for name, c := range map[string]string{"simple": "git rev-parse --show-toplevel", "usual": "cd web && npm ci 2>&1 | tail -5 && npm test", "heredoc": "cat > x <<'EOF'\n" + strings.Repeat("some (code) { here }\n", 200) + "EOF"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				classify(c, place{folder: folder})
			}
		})
	}
}
