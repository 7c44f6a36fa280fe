package proc

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"plexus/internal/tool"
)

// echoBytes is how much of a command is repeated in front of its output.
const echoBytes = 2000

// result puts together what the model reads: the command, its output, what is
// to be said about it, and how it ended.
func (r *Runner) result(in runInput, over finish) tool.Result {
	f := over.output
	res := tool.Result{Status: tool.StatusOK, Outcome: tool.OutcomeOK, Spool: f.spool}
	last := ""
	switch over.why {
	case byTimeout:
		res.Status, res.Outcome = tool.StatusTimeout, tool.OutcomeRejected
		last = fmt.Sprintf("[timeout %s]", seconds(r.limit(in)))
	case byStop:
		res.Status, res.Outcome = tool.StatusInterrupted, tool.OutcomeRejected
		last = "[stopped]"
	default:
		last = exited(&res, over.state)
	}
	header, remarks := header(in.Command), notes(over)
	if f.cut { // see tool.Result for what is counted
		res.Lines = int64(strings.Count(header, "\n")) - 1 + f.lines + int64(len(remarks))
		res.Bytes = f.bytes
	}
	var b strings.Builder
	b.WriteString(header + f.text)
	if f.text != "" && !strings.HasSuffix(f.text, "\n") {
		b.WriteByte('\n')
	}
	for _, note := range remarks {
		b.WriteString("[" + note + "]\n")
	}
	b.WriteString(last)
	res.Text = b.String()
	return res
}

// exited says how a command ended that was left to itself.
func exited(res *tool.Result, state *os.ProcessState) string {
	if signal := signalOf(state); signal != "" {
		res.Signal, res.Outcome = signal, tool.OutcomeExitNonzero
		return fmt.Sprintf("[signal %s]", signal)
	}
	code := state.ExitCode()
	res.Exit = &code
	if code != 0 {
		res.Outcome = tool.OutcomeExitNonzero
	}
	return fmt.Sprintf("[exit %d]", code)
}

func notes(over finish) []string {
	f, still := over.output, over.still
	var list []string
	if f.replaced > 0 {
		list = append(list, humanize.Comma(f.replaced)+" bytes that are not text are shown as \uFFFD")
	}
	if f.trouble != "" {
		list = append(list, f.trouble)
	}
	switch {
	case over.unended && len(still) > 0:
		list = append(list, "could not be ended, and still runs: "+named(still))
	case over.unended:
		list = append(list, "could not be ended: it was killed, but the system holds on to it")
	case len(still) > 0:
		list = append(list, stillRuns(still, f))
	case f.more:
		list = append(list, "a process that could not be found still runs and holds the output")
	}
	return list
}

// stillRuns names what the command left in the background.
func stillRuns(still []process, f finished) string {
	text := "still running in the background: " + named(still)
	if f.more && f.spool != "" {
		text += "; output from now on goes to " + f.spool
	}
	return text
}

// named names the first few of some processes.
func named(still []process) string {
	var names []string
	for i, p := range still {
		if i == 5 {
			names = append(names, fmt.Sprintf("and %d more", len(still)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
	}
	return strings.Join(names, ", ")
}

// seconds writes a time limit as it was given.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%gs", d.Seconds())
}

// header is the first lines of a text and of its spool file.
func header(command string) string { return "$ " + echo(command) + "\n" }

// echo is the command, or the beginning of a long one.
func echo(command string) string {
	command = strings.TrimRight(command, "\n")
	if len(command) <= echoBytes {
		return command
	}
	cut := command[:echoBytes]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return cut + fmt.Sprintf("… (%s bytes)", humanize.Comma(int64(len(command))))
}

// firstLine is a command as a title.
func firstLine(command string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	const limit = 200
	if runes := []rune(line); len(runes) > limit {
		line, rest = string(runes[:limit]), "…"
	}
	if rest != "" {
		line += " …"
	}
	return line
}
