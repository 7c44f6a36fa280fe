package gate

import (
	"slices"
	"strings"
)

// An inspector looks at the arguments of one program.
type inspector func(s *scan, name string, args []value)

// wrapper says how the words of another command follow a program's own.
type wrapper struct {
	value    string // options that take the next word
	operands int    // words before the command
}

// wrappers start the command in their arguments.
var wrappers = map[string]wrapper{
	"sudo": {value: "-u -g -h -p -C -T -r -t -U -D -R --user --group"}, "doas": {value: "-u -C"}, "pkexec": {value: "--user"}, "run0": {value: "-u --user"},
	"env": {value: "-u -C --unset --chdir"}, "nice": {value: "-n"}, "ionice": {value: "-c -n"}, "nohup": {}, "time": {value: "-f -o"}, "setsid": {},
	"timeout": {value: "-k -s --kill-after --signal", operands: 1}, "gtimeout": {value: "-k -s", operands: 1}, "stdbuf": {value: "-i -o -e"},
	"exec": {value: "-a"}, "command": {}, "builtin": {}, "busybox": {}, "toybox": {}, "chroot": {operands: 1}, "unshare": {}, "setpriv": {}, "nsenter": {value: "-t --target -S -G -T"},
	"systemd-run": {value: "-u --unit -p --property -E --setenv -H --host -M --machine --slice --description --uid --gid --nice --working-directory -d --on-active --on-boot --on-calendar --timer-property --path-property --socket-property"},
	"caffeinate":  {}, "arch": {value: "-arch -e -d"}, "unbuffer": {}, "chronic": {}, "strace": {value: "-e -o -p -s"},
	"taskset": {operands: 1}, "chrt": {operands: 1}, "flock": {value: "-w -E", operands: 1}, "noglob": {}, "nocorrect": {},
	"xargs":    {value: "-I -n -P -L -d -a -E -s --max-args --max-procs --replace --delimiter --arg-file"},
	"parallel": {value: "-j --jobs -I"}, "watch": {value: "-n --interval"}, "entr": {}, "npx": {value: "-p --package"}, "bunx": {}, "uvx": {}, "pipx": {operands: 1},
}

// inspectorOf returns what looks at a program, nil for one that no rule speaks of.
func inspectorOf(name string) inspector {
	switch name {
	case "su", "sudo", "doas", "pkexec", "run0", "runas", "gsudo":
		return asUser
	case "plexus":
		return runsPlexus
	case "eval":
		return evaluates
	case "trap":
		return traps
	case "find":
		return finds
	case "git":
		return gitRule
	case "cd", "pushd":
		return enters
	case "dd":
		return convert
	case "tee", "touch", "truncate", "sponge", "mkdir":
		return writesAll
	case "cp", "ln", "install", "scp":
		return writesLast
	case "mv":
		return moves
	case "rsync":
		return syncs
	case "sed", "perl", "ruby":
		return editsInPlace
	case "curl", "wget":
		return loads
	case "kill", "pkill", "killall", "killall5", "taskkill", "xkill", "skill", "stop-process", "fuser":
		return kills
	case "systemctl", "service", "launchctl", "rc-service", "initctl":
		return service
	case "shutdown", "reboot", "halt", "poweroff", "telinit", "init":
		return stopsMachine
	case "systemd-run", "machinectl", "schtasks", "nsenter":
		return handsOver
	case "docker", "podman", "nerdctl":
		return containers
	case "crontab":
		return crontab
	case "at", "batch":
		return startUp
	case "chsh", "usermod", "useradd", "userdel", "groupmod", "groupadd", "groupdel", "passwd", "chpasswd", "visudo", "adduser", "deluser":
		return account
	case "rm", "rmdir", "unlink", "shred", "srm", "wipe", "trash", "trash-put", "gio", "del", "erase", "rd", "remove-item", "ri":
		return removes
	case "chmod", "chown", "chgrp", "chattr", "setfacl", "setcap", "chflags", "icacls", "takeown", "xattr":
		return permission
	case "ssh-copy-id", "ssh-keygen", "ssh-add", "aws", "gcloud", "az", "gh", "kubectl", "security", "secret-tool", "cmdkey":
		return credentials
	case "python", "python2", "python3", "py":
		return pythonRule
	case "semantic-release", "release-it", "np":
		return publishes
	}
	switch {
	case hasField(shells, name):
		return shellRule
	case hasField(diskTools, name), strings.HasPrefix(name, "mkfs"):
		return diskTool
	case publishing[name] != "", running[name] != "":
		return publishes
	}
	if _, ok := wrappers[name]; ok {
		return wrapped
	}
	return nil
}

// diskTools change disks, file systems and what is mounted.
const diskTools = "fdisk sfdisk gdisk sgdisk cfdisk parted wipefs blkdiscard hdparm badblocks lvremove lvcreate vgremove vgcreate pvremove pvcreate zpool " +
	"zfs cryptsetup mdadm swapoff swapon mkswap mount umount losetup diskutil tune2fs resize2fs e2fsck fsck debugfs dmsetup diskpart format newfs mke2fs"

// unwrap returns the command that a wrapper starts, without its own words.
func unwrap(words []value) []value {
	w, ok := wrappers[commandName(words[0].text)]
	if !ok {
		return nil
	}
	operands := w.operands
	for words = words[1:]; len(words) > 0; words = words[1:] {
		a := words[0].text
		switch {
		case hasField(w.value, a) && len(words) > 1:
			words = words[1:]
		case strings.HasPrefix(a, "-") || assignment(a):
		case operands > 0:
			operands--
		default:
			return words
		}
	}
	return nil
}

func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.-"+unknown)
}

func wrapped(s *scan, name string, args []value) {
	if name == "env" || name == "watch" { // env -S and watch hand a string to a parser
		for i, a := range args {
			if text, ok := strings.CutPrefix(a.text, "-S"); ok && name == "env" {
				s.nested(text + " " + join(args[i+1:]))
				return
			}
		}
	}
	if name == "command" && len(args) > 0 && (args[0].text == "-v" || args[0].text == "-V") {
		return // looks a name up
	}
	inner := unwrap(append([]value{{text: name}}, args...))
	if len(inner) == 0 {
		return
	}
	if name == "watch" {
		s.nested(join(inner))
		return
	}
	if name == "xargs" || name == "parallel" {
		inner = append(slices.Clone(inner), value{text: unknown, raw: "what " + name + " is given"})
	}
	s.command(inner)
}

func asUser(s *scan, name string, args []value) {
	s.ask("runs as another user", name)
	if name == "su" {
		for i, a := range args[:max(len(args)-1, 0)] {
			if a.text == "-c" || a.text == "--command" {
				s.nested(args[i+1].text)
			}
		}
		return
	}
	wrapped(s, name, args)
}

func evaluates(s *scan, _ string, args []value) {
	if strings.Trim(join(args), unknown+" ") != "" {
		s.nested(join(args))
	}
}

func traps(s *scan, _ string, args []value) {
	if len(args) > 1 && !strings.HasPrefix(args[0].text, "-") {
		s.nested(args[0].text)
	}
}

// shellRule looks into the text after -c.
func shellRule(s *scan, _ string, args []value) {
	for i, a := range args {
		if !strings.HasPrefix(a.text, "-") {
			return
		}
		if !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "c") {
			for _, text := range args[i+1:] {
				if !strings.HasPrefix(text.text, "-") {
					if strings.Trim(text.text, unknown) != "" {
						s.nested(text.text)
					}
					return
				}
			}
		}
	}
}

func enters(s *scan, _ string, args []value) {
	dir := operands(args)
	switch {
	case len(dir) == 0 || strings.HasPrefix(dir[0].text, unknown) || dir[0].text == "-":
		s.at.dir = unknown
		if len(args) == 0 {
			s.at.dir = "~"
		}
	case rooted(dir[0].text) || s.at.dir == "":
		s.at.dir = dir[0].text
	default:
		s.at.dir += "/" + dir[0].text
	}
	if len(s.at.dir) > maxValue {
		s.at.dir = unknown
	}
}

// operands are the words that are no options.
func operands(args []value) []value {
	var out []value
	for i, a := range args {
		if a.text == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			out = append(out, a)
		}
	}
	return out
}

// has reports whether one of the words is an option: a long one in full or with
// "=value", a short one (one letter) also among others.
func has(args []value, options ...string) bool {
	return slices.ContainsFunc(args, func(a value) bool {
		return slices.ContainsFunc(options, func(o string) bool {
			if len(o) == 2 && o[0] == '-' {
				return strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.ContainsRune(a.text[1:], rune(o[1]))
			}
			return a.text == o || strings.HasPrefix(a.text, o+"=")
		})
	})
}

// first is the word at which a program's subcommand stands.
func first(args []value) (string, []value) {
	for i, a := range args {
		if !strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "+") {
			return a.text, args[i+1:]
		}
	}
	return "", nil
}

func isWrapper(name string) bool {
	_, ok := wrappers[name]
	return ok || hasField("su eval ssh", name)
}
