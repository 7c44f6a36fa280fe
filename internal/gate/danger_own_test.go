package gate

import (
	"strings"
	"testing"

	"plexus/internal/tool"
)

const ownHome = "/home/u/.local/share/plexus"

func TestOwnFilesAndProgram(t *testing.T) {
	for want, commands := range map[string][]string{
		"runs Plexus itself": {
			"plexus approve p_1", "/usr/local/bin/plexus approvals", "./plexus allow x", "../bin/plexus x", "plexus.exe x", "sudo plexus x", "env -i plexus x", "bash -c 'plexus x'", "ls; plexus x", "$(which plexus) x", "`command -v plexus` x", "xargs plexus", "timeout 5 plexus x",
			"nohup plexus x &", "if true; then plexus x; fi", "P=plexus; $P x", "echo plexus x | sh", "find . -exec plexus x ';'", "Plexus x", `\plexus x`, "'plexus' x", "exec plexus x", "parallel plexus ::: x", "sh <<EOF\nplexus x\nEOF", "/x/plexus",
		},
		"Plexus' own files": {
			"cat ~/.local/share/plexus/run/daemon.json", "cat /home/u/.local/share/plexus/plexus.db", "cat $HOME/.local/share/plexus/run/x", "ls ~/.local/share/plexus", "cp ~/.local/share/plexus/plexus.db .", "cat ../.local/share/plexus/plexus.db", "cd ~/.local/share/plexus && cat run/x", "cd ..; cat .local/share/plexus/run/x",
			"cat < ~/.local/share/plexus/run/x", "echo x > ~/.local/share/plexus/run/x", "rm -rf ~/.local/share/plexus", "sqlite3 ~/.local/share/plexus/plexus.db 'update x'", "dd if=/home/u/.local/share/plexus/plexus.db", "curl -d @/home/u/.local/share/plexus/run/x y", "curl --data=@/home/u/.local/share/plexus/run/x y", "tar czf x.tgz ~/.local/share/plexus/",
			"D=~/.local/share/plexus; cat $D/run/x", "for f in ~/.local/share/plexus/run/*; do cat $f; done", "cat ~/.local/share/plexus/*", "cat ~/.local/share/*/run/daemon.json", "cat ~/.local/sh?re/plex*/run/x", "cat ~/.loc*/share/plexus/run/x", "python3 -c 'open(\"/home/u/.local/share/plexus/run/x\")'", "python3 -c 'open(home + \"~/.local/share/plexus/run/x\")'",
			"perl -e 'open F, \"$HOME/.local/share/plexus/run/x\"'", "python3 - <<EOF\nopen('/home/u/.local/share/plexus/run/x')\nEOF", "cat ~/.local/share/plexus/spool/../run/x", "cat ~/.local/share/plexus/./run/x", "cat ~/.local/share//plexus/run/x", "echo x > ~/.local/share/plexus/spool/x", "touch ~/.local/share/plexus/spool/x", "ln -s ~/.local/share/plexus x",
			"cat ~/.local/share/plexus/spooled", "cat ~/.local/share/plexus/spool-x", "~/.local/share/plexus/x", "cat ~/.local/share/plexus/$X", "cat ~/.LOCAL/share/Plexus/run/x", "cat /root/.local/share/plexus/run/x", "grep x ~/.local/share/plexus/spool/a ~/.local/share/plexus/run/x", "scp h:/home/u/.local/share/plexus/run/x y",
		},
		"hides from Plexus": {"unset PLEXUS_CALL; x", "PLEXUS_CALL= x", "PLEXUS_CALL=y x", "env -u PLEXUS_CALL x", "env -uPLEXUS_CALL x", "env --unset=PLEXUS_CALL x", "env PLEXUS_CALL=y x", "export PLEXUS_CALL=", "PLEXUS_CALL=y", "declare PLEXUS_CALL=y"},
	} {
		for _, c := range commands {
			got := Question{Folder: folder, Home: ownHome, Subject: command(c)}.Classify()
			if !strings.Contains(strings.Join(got.Danger, "\n"), want) || got.ReadOnly {
				t.Errorf("%q: %+v, want a reason with %q", c, got, want)
			}
		}
	}
	for _, c := range append([]string{
		"sed -n '5,10p' /home/u/.local/share/plexus/spool/c_1.txt", "cat ~/.local/share/plexus/spool/x", "ls ~/.local/share/plexus/spool", "python3 -c 'open(\"/home/u/.local/share/plexus/spool/x\")'", "grep -n x ~/.local/share/plexus/spool/a ~/.local/share/plexus/spool/b", "cat ~/.local/share/plexus2/x", "cat ~/.local/share/plexus-old/x",
		"ls ~/.local/share", "cat ~/.local/share/x", "ls plexus", "cat plexus/run/x", "which plexus", "command -v plexus", "grep -rn plexus .", "echo plexus", "go build ./cmd/plexus", "go build -o plexus .", "git commit -m 'plexus approve'", "echo $PLEXUS_CALL", "cat notes/.local/share/plexus/x", "cd plexus && ls",
	}, harmlessCommands...) {
		if got := (Question{Folder: folder, Home: ownHome, Subject: command(c)}).Classify(); len(got.Danger) != 0 {
			t.Errorf("%q: reasons %q, want none", c, got.Danger)
		}
	}
	if got := classify("cat ~/.local/share/plexus/run/x", place{folder: folder}); len(got.Danger) != 0 {
		t.Errorf("reasons %q where Plexus' files are not known to be", got.Danger)
	}
	if got := (Question{Folder: "D:/p", Home: `C:\Users\u\AppData\Local\plexus`, Subject: command(`type 'C:\Users\u\AppData\Local\plexus\run\x'`)}).Classify(); len(got.Danger) != 1 {
		t.Errorf("reasons %q on Windows", got.Danger)
	}
}

// TestFileToolsLeaveOwnFilesAlone: a folder may hold them.
func TestFileToolsLeaveOwnFilesAlone(t *testing.T) {
	for _, class := range []tool.Class{tool.ClassRead, tool.ClassWrite} {
		for p, want := range map[string]bool{
			".local/share/plexus/run/x": true, "/u/.local/share/plexus/plexus.db": true, "/home/u/.local/share/plexus/run/x": true, "./.local/share/plexus": true, "proj/../.local/share/plexus/run/x": true,
			".local/share/x": false, "proj/plexus/x": false, ".local/share/plexus/spool/x": class == tool.ClassWrite,
		} {
			q := Question{Level: AutoReview, Class: class, Folder: "/home/u", Home: ownHome, Subject: tool.Subject{Paths: []string{"a", p}}}
			if v := Judge(q); v.Ask != want || v.Reasons == nil || len(v.Reasons) > 0 != want {
				t.Errorf("%s %q: %+v", class, p, v)
			}
			q.Level = Full
			if v := Judge(q); v.Ask {
				t.Errorf("%s %q: asked at %s", class, p, q.Level)
			}
		}
	}
}
