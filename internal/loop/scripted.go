package loop

import (
	"context"
	"fmt"
	"os"
	"strings"

	"plexus/internal/scenario"
	"plexus/internal/store"
)

// Scripted answers from a scenario file; a thread's model is "scripted:FILE". It keeps nothing: each Send replays the
// history, so it survives restarts like a provider does. For tests and for trying prompts.
type Scripted struct{}

var _ Model = Scripted{}

// scriptedPiece is how many bytes one delta of a scripted reply has.
const scriptedPiece = 48

// Send answers req.Text from the scenario.
func (s Scripted) Send(ctx context.Context, req Send, on Observer) (Reply, error) {
	for _, state := range []store.Delivery{store.DeliveryDispatched, store.DeliveryAccepted} {
		if err := on.Delivery(state, ""); err != nil {
			return Reply{}, err
		}
	}
	reply, err := answerOf(ctx, req)
	if err != nil {
		return Reply{}, err
	}
	if reply.Reasoning != "" {
		on.Reasoning(reply.Reasoning)
	}
	sent := reply.Text
	if reply.Fault != "" {
		sent = sent[:len(sent)/2]
	}
	for text := sent; text != ""; {
		n := min(scriptedPiece, len(text))
		on.Text(text[:n])
		text = text[n:]
	}
	switch reply.Fault {
	case "":
		return Reply{Text: reply.Text, Model: "scripted"}, context.Cause(ctx)
	case "freeze":
		<-ctx.Done() // the loop's watchdog bounds it
		return Reply{Text: sent, Model: "scripted"}, context.Cause(ctx)
	default:
		return Reply{Text: sent}, &Fault{Code: reply.Fault, Text: "The scenario ended this reply with the fault " + reply.Fault + ".", Todo: "Send a message to go on."}
	}
}

// Recover sends again: a script has no memory in which a first attempt could have left something.
func (s Scripted) Recover(ctx context.Context, req Send, on Observer) (Reply, error) {
	return s.Send(ctx, req, on)
}

func answerOf(ctx context.Context, req Send) (scenario.Reply, error) {
	_, file, _ := strings.Cut(req.Thread.Model, ":")
	src, err := readScript(file)
	if err != nil {
		return scenario.Reply{}, &Fault{Code: FaultScript, Text: fmt.Sprintf("The scenario cannot be read: %v.", err), Todo: "Name a scenario file, as in scripted:FILE."}
	}
	script, err := scenario.Parse(src)
	if err != nil {
		return scenario.Reply{}, &Fault{Code: FaultScript, Text: fmt.Sprintf("The scenario %s is wrong: %v.", file, err), Todo: "Mend the file."}
	}
	mind := script.Start()
	history, err := req.History(ctx)
	if err != nil {
		return scenario.Reply{}, err
	}
	for _, e := range history {
		if e.Role != "user" {
			continue
		}
		if _, err := mind.Reply(e.Text); err != nil {
			return scenario.Reply{}, scriptFault(err)
		}
	}
	reply, err := mind.Reply(req.Text)
	if err != nil {
		return scenario.Reply{}, scriptFault(err)
	}
	return reply, nil
}

// maxScript bounds a scenario file.
const maxScript = 1 << 20

// readScript reads a regular file: anything else could keep the turn waiting, or fill the memory.
func readScript(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxScript:
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", file, maxScript)
	}
	return os.ReadFile(file)
}

func scriptFault(err error) error {
	return &Fault{Code: FaultScript, Text: fmt.Sprintf("The scenario has no answer: %v.", err), Todo: "Mend the scenario."}
}
