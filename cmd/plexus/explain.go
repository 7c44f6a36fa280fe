package main

import (
	"context"
	"errors"
	"strings"

	"plexus/internal/client"
	"plexus/internal/config"
	"plexus/internal/daemon"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// explain turns an error into what a person reads in the terminal: what happened, what was kept, what to do. It is the
// only place of the CLI that words errors of other parts.
func explain(err error) (text string, code int) {
	var (
		wrong   usageError
		refused *client.Error
	)
	switch {
	case errors.As(err, &wrong):
		return wrong.text, exitUsage
	case errors.As(err, &refused):
		return strings.TrimSpace(refused.Text + " " + refused.Todo), exitError
	case errors.Is(err, errOwnCommand):
		return "a command that Plexus runs may not use Plexus itself: approvals and settings are yours. Nothing was done.", exitError
	case errors.Is(err, context.Canceled):
		return "interrupted", exitStopped
	case errors.Is(err, daemon.ErrRunning):
		return err.Error() + ". Use it with `plexus open`, or end it first.", exitError
	case errors.Is(err, store.ErrNewer):
		return err.Error() + ". Nothing was changed. Use the newer Plexus, or another PLEXUS_HOME.", exitError
	case errors.Is(err, store.ErrFull):
		return "The disk is full. What was recorded so far is kept. Make room and try again.", exitError
	case errors.Is(err, daemon.ErrNoPort):
		return err.Error() + ". End what uses it, or choose another with `plexus serve --port N`, 0 for any free one.", exitError
	case errors.Is(err, loop.ErrLongTask):
		return err.Error() + ", so nothing was sent. Put the long part into a file in the folder and name the file.", exitError
	case errors.Is(err, config.ErrNoDaemon):
		return "Plexus is not running. Start it with `plexus serve`.", exitError
	}
	text = err.Error()
	if strings.HasPrefix(text, "unknown command") || strings.HasPrefix(text, "accepts ") || strings.HasPrefix(text, "requires ") {
		return text + "\nRun `plexus --help`.", exitUsage // worded by cobra, which has no types for these
	}
	return text, exitError
}
