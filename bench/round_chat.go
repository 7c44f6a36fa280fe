package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plexus/internal/chromium"
	"plexus/internal/practice"
	"plexus/internal/scenario"
)

const (
	chatRounds = 20
	pairBound  = time.Minute
	pairLook   = 50 * time.Millisecond
)

// measureRoundChat lets the practice site ask for `echo hi` again and again, with a model that needs no time, in Chromium with
// the extension. A round's own cost is the time between two entries of the site's log: its answer has ended, and the message
// with the results has arrived. A relay on the link tells how much of that the daemon took.
func measureRoundChat(ctx context.Context, w *world) ([]row, error) {
	if _, err := chromium.Find(); err != nil {
		return nil, fmt.Errorf("%w: run `make chromium`", err)
	}
	s, err := newChatStage(ctx, w)
	defer s.close(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := s.daemon.approve(ctx, s.project)
	if err != nil {
		return nil, err
	}
	thread, err := s.daemon.thread(ctx, folder, "chat")
	if err != nil {
		return nil, err
	}
	if err := s.daemon.give(ctx, thread, "Say hi"); err != nil {
		return nil, err
	}
	if err := s.daemon.answered(ctx, thread); err != nil {
		return nil, err
	}
	var whole, daemons, page []float64
	for i, r := range rounds(s.site.Log()) {
		passed := s.relay.between(r.ended, r.accepted)
		part := daemonsPart(passed)
		whole = append(whole, ms(r.accepted.Sub(r.ended)))
		daemons = append(daemons, ms(part))
		page = append(page, ms(r.accepted.Sub(r.ended)-part))
		if w.trace && i == chatRounds/2 {
			printTrace(r, passed)
		}
	}
	if len(whole) != chatRounds {
		return nil, fmt.Errorf("the site saw %d rounds, want %d", len(whole), chatRounds)
	}
	return []row{
		{"round on the practice site, end of reply to results accepted", "ms", whole, atMost(150)},
		{"  of which the daemon", "ms", daemons, atMost(10)},
		{"  of which the page, the browser and the way there", "ms", page, bound{}},
	}, nil
}

// round is one reply's end and the arrival of the message after it.
type round struct{ ended, accepted time.Time }

func rounds(log []practice.Entry) []round {
	var out []round
	var ended time.Time
	for _, e := range log {
		switch {
		case e.Kind == practice.KindEnd:
			ended = e.Time
		case e.Kind == practice.KindMessage && !ended.IsZero():
			out = append(out, round{ended, e.Time})
		}
	}
	return out
}

func printTrace(r round, passed []crossing) {
	fmt.Fprintf(os.Stderr, "one round on the practice site:\n  0.0 ms  the answer has ended\n")
	for _, c := range passed {
		way := "up  "
		if c.down {
			way = "down"
		}
		fmt.Fprintf(os.Stderr, "  %.1f ms  %s %s %s\n", ms(c.at.Sub(r.ended)), way, c.kind, c.detail)
	}
	fmt.Fprintf(os.Stderr, "  %.1f ms  the results were accepted\n", ms(r.accepted.Sub(r.ended)))
}

// echoes is a mind that asks for so many commands and then answers.
func echoes(n int) (*scenario.Scenario, error) {
	var b strings.Builder
	b.WriteString("steps:\n")
	expect := `\{plx:task\}`
	for range n {
		fmt.Fprintf(&b, "  - expect: '%s'\n    reply: '%s'\n", expect, runEcho)
		expect = `\[exit 0\]`
	}
	fmt.Fprintf(&b, "  - expect: '%s'\n    reply: '%s'\n", expect, over)
	return scenario.Parse([]byte(b.String()))
}

// chatStage is a daemon, the practice site, and a browser with the extension that reaches the daemon through a relay.
type chatStage struct {
	project string
	daemon  *daemon
	site    *practice.Site
	relay   *relay
	browser *chromium.Browser
}

// newChatStage returns what it started also when it fails.
func newChatStage(ctx context.Context, w *world) (*chatStage, error) {
	s := &chatStage{project: filepath.Join(w.dir, "round-chat-project")}
	if err := os.Mkdir(s.project, 0o700); err != nil {
		return s, err
	}
	mind, err := echoes(chatRounds)
	if err != nil {
		return s, err
	}
	home := filepath.Join(w.dir, "round-chat")
	if s.daemon, err = w.startDaemon(ctx, home); err != nil {
		return s, err
	}
	if err := s.daemon.client.Post(ctx, "/api/consent", map[string]any{"site": "chatgpt", "agreed": true}, nil); err != nil {
		return s, err
	}
	if s.site, err = practice.Start(ctx, practice.Config{Scenario: mind}); err != nil {
		return s, err
	}
	s.relay = newRelay(ctx, s.daemon.state.Port)
	if err := s.writeExtension(ctx, w, home); err != nil {
		return s, err
	}
	s.browser, err = chromium.Start(ctx, chromium.Options{Profile: filepath.Join(w.dir, "round-chat-profile"), Headless: true,
		Extensions: []string{s.daemon.paths.Extension}, Flags: s.site.ChromiumFlags()})
	if err != nil {
		return s, err
	}
	return s, s.pair(ctx)
}

// writeExtension has the program write its extension and points it to the relay.
func (s *chatStage) writeExtension(ctx context.Context, w *world, home string) error {
	cmd := exec.CommandContext(ctx, w.binary, "extension")
	cmd.Env = w.env(home)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("plexus extension: %w: %s", err, out)
	}
	_, text, err := net.SplitHostPort(s.relay.srv.Listener.Addr().String())
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	data, err := json.Marshal(map[string][]int{"ports": {port}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.daemon.paths.Extension, "endpoint.json"), data, 0o600)
}

// pair approves the browser when it asks.
func (s *chatStage) pair(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pairBound, errors.New("the extension did not connect"))
	defer cancel()
	for {
		var state struct {
			Browsers []struct{ Connected bool }
			Pairings []struct{ Code string }
		}
		if err := s.daemon.client.Get(ctx, "/api/state", &state); err != nil {
			return err
		}
		for _, b := range state.Browsers {
			if b.Connected {
				return nil
			}
		}
		for _, p := range state.Pairings {
			if err := s.daemon.client.Post(ctx, "/api/pairings/"+p.Code, map[string]bool{"approve": true}, nil); err != nil {
				return err
			}
		}
		if err := pause(ctx, pairLook); err != nil {
			return err
		}
	}
}

func (s *chatStage) close(ctx context.Context) {
	if s.browser != nil {
		s.browser.Close()
	}
	if s.relay != nil {
		s.relay.close()
	}
	if s.daemon != nil {
		s.daemon.end(ctx)
	}
	if s.site != nil {
		_ = s.site.Close()
	}
}
