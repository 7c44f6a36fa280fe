package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"plexus/internal/client"
	"plexus/internal/config"
	"plexus/internal/daemon"
)

// session is a daemon to talk to: the one that runs, or one of this process for as long as the command lasts.
type session struct {
	*client.Client
	state config.State
	own   bool
	end   func() error
}

// errOwnCommand is the answer to a command that Plexus itself runs: it must not answer for the person.
var errOwnCommand = errors.New("this was started by a command that Plexus runs, which may not use Plexus itself")

// home returns the paths, unless a command that Plexus runs asks. Only one that names another home of its own is let
// through, so that Plexus can be used to work on Plexus: commands never inherit PLEXUS_HOME.
func (a app) home() (config.Paths, error) {
	paths, err := a.paths()
	call := os.Getenv(config.CallVariable)
	if err == nil && call != "" && (os.Getenv("PLEXUS_HOME") == "" || strings.HasPrefix(call, paths.Mark()+".")) {
		return config.Paths{}, errOwnCommand
	}
	return paths, err
}

// connect finds the running daemon or runs one in this process. With idle that one only answers, and takes up nothing that
// waits in the store. The caller ends the session.
func (a app) connect(ctx context.Context, idle bool) (*session, error) {
	paths, err := a.home()
	if err != nil {
		return nil, err
	}
	c, state, err := client.Find(ctx, paths)
	if err == nil {
		return &session{Client: c, state: state, end: func() error { return nil }}, nil
	}
	if !errors.Is(err, config.ErrNoDaemon) {
		return nil, err
	}
	return a.embed(ctx, daemon.Config{Paths: paths, Ports: append(slices.Clone(daemon.Ports), 0), Version: config.Version, Log: a.logger(), Idle: idle})
}

// embed runs a daemon in this process.
func (a app) embed(ctx context.Context, cfg daemon.Config) (*session, error) {
	// The command decides when the daemon ends: an interrupt must first be told to the turn that runs.
	d, err := daemon.New(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(context.WithoutCancel(ctx)) }()
	return &session{Client: client.New(d.State()), state: d.State(), own: true, end: func() error {
		d.Stop()
		return <-ended
	}}, nil
}

// embedPractice runs a daemon with a home of its own that drives the practice site. Any port will do: its extension is
// told which.
func (a app) embedPractice(ctx context.Context, paths config.Paths) (*session, error) {
	ports := append(slices.Clone(daemon.Ports), 0)
	return a.embed(ctx, daemon.Config{Paths: paths, Ports: ports, Version: config.Version, Log: a.logger(), Practice: true})
}

// require finds the running daemon; commands that act on what runs have no use for one of their own.
func (a app) require(ctx context.Context) (*client.Client, error) {
	paths, err := a.home()
	if err != nil {
		return nil, err
	}
	c, _, err := client.Find(ctx, paths)
	return c, err
}

// with runs do in a session that looks and sets, and ends it.
func (a app) with(ctx context.Context, do func(*session) error) error {
	return a.within(ctx, true, do)
}

func (a app) within(ctx context.Context, idle bool, do func(*session) error) error {
	s, err := a.connect(ctx, idle)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.end())
}
