// Package daemon builds Plexus from its parts and keeps it alive: one instance
// per home, one listener on the loopback, an ordered and bounded end.
package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"plexus/internal/chatapi"
	"plexus/internal/chattab"
	"plexus/internal/config"
	"plexus/internal/engine"
	"plexus/internal/gate"
	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/proc"
	"plexus/internal/server"
	"plexus/internal/store"
	"plexus/internal/workspace"
)

// Ports are where a daemon listens by default: the first that is free. The extension looks for it there.
var Ports = []int{8765, 8766, 8767, 8768, 8769}

// ErrRunning is wrapped when another daemon has this home.
var ErrRunning = errors.New("another Plexus is running")

// ErrNoPort is wrapped when none of the ports could be taken.
var ErrNoPort = errors.New("no free port")

// Budgets of the phases of an end. Together they bound it.
const (
	drainBudget = 3 * time.Second
	loopBudget  = 5 * time.Second
	procBudget  = 5 * time.Second
)

// Config is what a Daemon needs.
type Config struct {
	Paths   config.Paths
	Ports   []int // tried in order; {0} for any free one
	Version string
	Log     *slog.Logger
	// Idle is set for a daemon that only answers, for one command: turns and queues that wait in the store are not taken
	// up, since they would be cut short again at once.
	Idle bool
	// Practice is set when the chat site is our own practice site, for which nobody's consent is needed.
	Practice bool
}

// Daemon is a Plexus that holds its home and listens, but does not serve yet.
type Daemon struct {
	cfg   Config
	state config.State
	lock  *flock.Flock
	ln    net.Listener

	store    *store.Store
	settings *config.Settings
	runner   *proc.Runner
	engine   *engine.Engine
	loop     *loop.Loop
	hub      *link.Hub
	server   *server.Server
	stop     chan struct{} // one place: a request to end
}

// New takes the home and the port and builds everything. Close or Run must follow.
func New(ctx context.Context, cfg Config) (*Daemon, error) {
	if err := cfg.Paths.Create(); err != nil {
		return nil, err
	}
	d := &Daemon{cfg: cfg, lock: flock.New(cfg.Paths.Lock()), stop: make(chan struct{}, 1)}
	locked, err := d.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", cfg.Paths.Lock(), err)
	}
	if !locked {
		return nil, running(cfg.Paths)
	}
	if err := d.build(ctx); err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	return d, nil
}

// running says which daemon has the home.
func running(p config.Paths) error {
	s, err := config.ReadState(p)
	if err != nil {
		return fmt.Errorf("%w in %s", ErrRunning, p.Home)
	}
	return fmt.Errorf("%w at %s (process %d)", ErrRunning, s.URL(), s.PID)
}

func (d *Daemon) build(ctx context.Context) error {
	var err error
	if d.ln, err = listen(ctx, d.cfg.Ports); err != nil {
		return err
	}
	d.state = config.State{Port: d.ln.Addr().(*net.TCPAddr).Port, PID: os.Getpid(), Version: d.cfg.Version, Token: rand.Text()}
	if d.store, err = store.Open(ctx, store.Options{Path: d.cfg.Paths.DB, Assets: d.cfg.Paths.Assets, Log: d.cfg.Log}); err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	settings := config.NewSettings(d.store)
	d.settings = settings
	secrets := config.OpenSecrets(ctx, d.cfg.Paths)
	tokens, err := server.NewTokens(config.Secret(d.state.Token), filepath.Join(d.cfg.Paths.Run, "session.key"))
	if err != nil {
		return err
	}
	d.runner = proc.New(proc.Options{
		Shell:      settings.Text(ctx, config.KeyShell),
		Timeout:    settings.Duration(ctx, config.KeyTimeout),
		MaxTimeout: settings.Duration(ctx, config.KeyMaxTimeout),
		Mark:       d.cfg.Paths.Mark(),
		Log:        d.cfg.Log,
	})
	g := gate.New(d.store, d.cfg.Log)
	eng, err := engine.New(engine.Config{Store: d.store, Gate: g, Log: d.cfg.Log, Spool: d.cfg.Paths.Spool, Home: d.cfg.Paths.Home,
		Tools: append(workspace.Tools(workspace.Options{}), d.runner.Tools()...)})
	if err != nil {
		return fmt.Errorf("build the engine: %w", err)
	}
	d.engine = eng
	d.hub = link.NewHub(link.Options{Store: browsers{d.store}, Version: d.cfg.Version, Log: d.cfg.Log})
	m := models{settings: settings, secrets: secrets, hub: d.hub, practice: d.cfg.Practice}
	tab := chattab.New(chattab.Config{Hub: d.hub, Consent: m.consent, Memory: d.store, Log: d.cfg.Log})
	d.loop = loop.New(loop.Config{Store: d.store, Engine: eng, Log: d.cfg.Log, Limits: m.limits,
		DefaultModel: func(ctx context.Context) string { return settings.Text(ctx, config.KeyModel) },
		Models: map[string]loop.Model{
			"chat":     tab,
			"api":      chatapi.New(chatapi.Config{Endpoint: m.endpoint, Log: d.cfg.Log}),
			"scripted": loop.Scripted{},
		}})
	doc := doctor{cfg: d.cfg, state: d.state, store: d.store, hub: d.hub, models: m, secrets: secrets}
	d.server = server.New(server.Config{Store: d.store, Engine: eng, Gate: g, Loop: d.loop, Link: d.hub, Settings: settings,
		Secrets: secrets, Tokens: tokens, Home: d.cfg.Paths.Home, Port: d.state.Port, Version: d.cfg.Version, Models: m.list, Doctor: doc.checks,
		Shutdown: d.Stop, Release: tab.Release, Log: d.cfg.Log})
	return nil
}

// listen takes the first free port on the loopback.
func listen(ctx context.Context, ports []int) (net.Listener, error) {
	var lc net.ListenConfig
	var last error
	for _, port := range ports {
		ln, err := lc.Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return ln, nil
		}
		last = err
	}
	return nil, fmt.Errorf("%w among %v: %w", ErrNoPort, ports, last)
}

// State is how this daemon is reached.
func (d *Daemon) State() config.State { return d.state }

// Store is the daemon's memory, for what runs in the same process (the demo).
func (d *Daemon) Store() *store.Store { return d.store }

// Stop asks Run to end. It does not wait.
func (d *Daemon) Stop() {
	select {
	case d.stop <- struct{}{}:
	default: // asked already
	}
}

// Run serves until ctx ends or Stop is called, then ends everything in order, each phase within its budget.
func (d *Daemon) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// What an earlier process left is settled before anybody is answered, so that it cannot be taken for something new.
	if !d.cfg.Idle {
		if err := d.settle(ctx); err != nil {
			return errors.Join(err, d.Close(ctx))
		}
	}
	served := make(chan error, 1)
	go func() { served <- d.server.Serve(ctx, d.ln, drainBudget) }()
	tidied := make(chan struct{})
	go func() { defer close(tidied); d.tidy(ctx) }()
	var err error
	if !d.cfg.Idle {
		err = d.loop.Start(ctx)
	}
	if err == nil {
		err = config.WriteState(d.cfg.Paths, d.state)
	}
	if err == nil {
		d.cfg.Log.Info("ready", slog.Int("port", d.state.Port), slog.String("home", d.cfg.Paths.Home))
		select {
		case <-ctx.Done():
		case <-d.stop:
		case err = <-served:
			served <- err
		}
	}
	_ = os.Remove(d.cfg.Paths.State()) // from now on nobody should find us
	end := context.WithoutCancel(ctx)
	err = errors.Join(err, d.endLoop(end))
	cancel()
	<-tidied
	return errors.Join(err, <-served, d.Close(end))
}

// settle ends what a killed daemon left: processes of its commands, and calls that nobody will take up.
func (d *Daemon) settle(ctx context.Context) error {
	if n := d.runner.EndLeftovers(); n > 0 {
		d.cfg.Log.Warn("ended processes that an earlier Plexus had left running", slog.Int("count", n))
	}
	return d.abandon(ctx)
}

// abandon settles calls that an earlier process left behind and that no turn in flight will take up.
func (d *Daemon) abandon(ctx context.Context) error {
	open, err := d.store.OpenActions(ctx)
	if err != nil {
		return fmt.Errorf("find the calls in flight: %w", err)
	}
	for _, a := range open {
		if a.Turn != "" {
			turn, err := d.store.Turn(ctx, a.Turn)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("find the turn of call %s: %w", a.ID, err)
			}
			if err == nil && !turn.State.Final() {
				continue // the loop's
			}
		}
		if err := d.engine.Abandon(ctx, a); err != nil {
			return fmt.Errorf("settle the call %s: %w", a.ID, err)
		}
	}
	return nil
}

// tidyEvery is how often what nobody wants any more is removed from the store.
const tidyEvery = 6 * time.Hour

func (d *Daemon) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		if err := d.tidyOnce(ctx, time.Now()); err != nil && ctx.Err() == nil {
			d.cfg.Log.Warn("store not tidied", slog.Any("error", err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

const day = 24 * time.Hour

func (d *Daemon) tidyOnce(ctx context.Context, now time.Time) error {
	days := func(key string) time.Duration { return time.Duration(d.settings.Int(ctx, key)) * day }
	_, err := d.store.Purge(ctx, store.Retention{Bin: days(config.KeyRetainBin), Age: days(config.KeyRetainThreads),
		Bytes: int64(d.settings.Int(ctx, config.KeyRetainMegabytes)) << 20})
	return errors.Join(err, d.tidySpool(ctx, now.Add(-days(config.KeyRetainOutputs))))
}

// tidySpool removes full outputs that are older than before, and those of calls that are no longer recorded.
func (d *Daemon) tidySpool(ctx context.Context, before time.Time) error {
	files, err := os.ReadDir(d.cfg.Paths.Spool)
	if err != nil {
		return fmt.Errorf("list the outputs: %w", err)
	}
	var errs []error
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // it went by itself, or it is not ours
		}
		call := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name()))
		_, err = d.store.Action(ctx, call)
		if info.ModTime().Before(before) || errors.Is(err, store.ErrNotFound) {
			errs = append(errs, os.Remove(filepath.Join(d.cfg.Paths.Spool, f.Name())))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// endLoop stops taking work and what is at work. Turns keep their state.
func (d *Daemon) endLoop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loopBudget)
	defer cancel()
	return d.loop.Close(ctx)
}

// Close gives back what New took. Run calls it; a daemon that was never run needs it.
func (d *Daemon) Close(ctx context.Context) error {
	var errs []error
	if d.runner != nil {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), procBudget)
		errs = append(errs, d.runner.Close(end))
		cancel()
	}
	if d.hub != nil {
		d.hub.Close()
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	if d.ln != nil {
		if err := d.ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, d.lock.Unlock())...)
}
