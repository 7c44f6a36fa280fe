package engine

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"plexus/internal/store"
	"plexus/internal/tool"
)

// The texts below are read by a model. Each says what happened, what was kept,
// and what to do.

func rejected(status tool.Status, code, text string) tool.Result {
	return tool.Result{Status: status, Outcome: tool.OutcomeRejected, Code: code, Text: text}
}

func refused(err *tool.Error) tool.Result {
	res := rejected(tool.StatusError, err.Code, err.Text)
	if err.Code == CodeInternal {
		res.Outcome = tool.OutcomeFailed
	}
	return res
}

func denied(reason string) tool.Result {
	text := "The user denied this action; it was not run."
	if reason = strings.TrimSpace(reason); reason != "" {
		text += " Reason: " + reason
		if !strings.HasSuffix(reason, ".") {
			text += "."
		}
	}
	return rejected(tool.StatusDenied, CodeDenied, text+" Do not try it again, in this or another form. Find a way that does not need it, or ask the user.")
}

func gone() tool.Result {
	return rejected(tool.StatusInterrupted, CodeStopped, "This was stopped before it was run. Nothing was done.")
}

func dropped() tool.Result {
	return rejected(tool.StatusDropped, CodeRestarted, "This was not run: Plexus was restarted before its turn came. Ask for it again if it is still needed.")
}

func interrupted(text, code string) tool.Result {
	return rejected(tool.StatusInterrupted, code, text)
}

func timedOut(limit time.Duration) tool.Result {
	return rejected(tool.StatusTimeout, CodeTimeout, fmt.Sprintf("This took longer than %s and was stopped. It may have partly run.", limit))
}

func failed(text string) tool.Result {
	return tool.Result{Status: tool.StatusError, Outcome: tool.OutcomeFailed, Code: CodeInternal, Text: text}
}

// diskFull reports whether an error says that there is no room.
func diskFull(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, syscall.ENOSPC)
}

// complete fills in what a tool left open, so that every record has a status and
// an outcome.
func complete(res tool.Result) tool.Result {
	if res.Status == "" {
		res.Status = tool.StatusOK
	}
	if res.Outcome == "" {
		switch {
		case res.Status != tool.StatusOK:
			res.Outcome = tool.OutcomeRejected
		case res.Exit != nil && *res.Exit != 0, res.Signal != "":
			res.Outcome = tool.OutcomeExitNonzero
		default:
			res.Outcome = tool.OutcomeOK
		}
	}
	res.Text = strings.ToValidUTF8(res.Text, "\uFFFD")
	return res
}
