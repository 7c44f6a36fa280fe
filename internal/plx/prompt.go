package plx

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"
)

//go:embed prompt.md
var prompt string

// Workspace is what the model is told about where it works. Empty fields are left out.
type Workspace struct {
	Name   string // of the folder
	Path   string // absolute
	OS     string
	Shell  string
	Branch string // of git
	Agents string // the top of the folder's AGENTS.md
}

// maxAgents bounds the part of AGENTS.md that is sent, in UTF-16 code units.
const maxAgents = 4000

// First returns the first message of a thread: the task, the prompt, the workspace. The task comes first, since a model that
// reads the prompt first takes the whole message for a configuration and sums it up.
func First(task string, ws Workspace) string {
	var b strings.Builder
	b.WriteString("{plx:task}\n")
	b.WriteString(strings.ReplaceAll(strings.TrimSpace(task), "{/plx:task}", `{\/plx:task}`))
	b.WriteString("\n{/plx:task}\n\n")
	b.WriteString(strings.TrimSpace(prompt))
	b.WriteString("\n\nThe workspace:\n")
	for _, line := range []struct{ name, value string }{
		{"folder", ws.Name}, {"path", ws.Path}, {"system", ws.OS}, {"shell", ws.Shell}, {"git branch", ws.Branch},
	} {
		if line.value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", line.name, oneLine(line.value))
		}
	}
	if agents := strings.TrimSpace(ws.Agents); agents != "" {
		b.WriteString("\nAGENTS.md of the folder:\n")
		b.WriteString(cutEnd(defuse(agents), maxAgents, "\n[the rest of AGENTS.md is left out here; it is in the file]"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// oneLine keeps a name that somebody chose from looking like more than a name.
func oneLine(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		s = fmt.Sprintf("%q", s)
	}
	return defuse(s)
}

// Correction returns the silent message that asks for a reply again, in the grammar. It says what the problems were; dropped is
// Reply.Dropped.
func Correction(problems []Problem, dropped int) string {
	var b strings.Builder
	b.WriteString("Plexus could not act on your last reply; nothing of it was run.\n")
	for _, line := range remarks(problems, dropped, 0) {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	b.WriteString(`Send the same reply again in the grammar, and nothing else. Either act:
{plx:note}what you do and why{/plx:note}
{plx:run}command{/plx:run}
or answer:
{plx:done}your answer{/plx:done}
Use these braces, close every tag, and put no text outside of tags and no code fence around them.`)
	return b.String()
}

// Remarks returns what the model has to be told of its reply together with the results of its actions.
func Remarks(r Reply) []string { return remarks(r.Problems, r.Dropped, len(r.Actions)) }

// remarks puts problems into words; taken is the number of actions that were run.
func remarks(problems []Problem, dropped, taken int) []string {
	var list []string
	invented := false
	for _, p := range problems {
		switch p {
		case InventedResult:
			invented = true
			list = append(list, "Your reply had a result block. Only Plexus writes results: yours was invented and was ignored, and no action after it was run. Rely on nothing it said.")
		case TooManyActions:
			list = append(list, fmt.Sprintf("Your reply had too many actions: at most %d are taken.", MaxActions))
		case AnswerDropped:
			list = append(list, "Your reply had both actions and a done tag. The answer was dropped, the user did not see it. Answer again after you have read the results.")
		case UnfinishedAction:
			list = append(list, "An action of your reply was cut off: its tag was never finished, so it was not run. Write it again, whole.")
		case UnknownTag:
			list = append(list, "Your reply had a plx tag that does not exist; it was ignored with all that was in it. The tags are note, run, write and done.")
		case ExtraAnswer:
			list = append(list, "Your reply had more than one done tag; only the first counts.")
		}
	}
	if dropped > 0 {
		why := "they were too many"
		if invented {
			why = "they came after an invented result or were too many"
		}
		if taken == 0 {
			list = append(list, fmt.Sprintf("Actions dropped: %d, since %s.", dropped, why))
		} else {
			list = append(list, fmt.Sprintf("Actions dropped: %d, since %s. Only the first %d ran. Ask for the others again if they still make sense.", dropped, why, taken))
		}
	}
	return list
}
