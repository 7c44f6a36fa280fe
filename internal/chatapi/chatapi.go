// Package chatapi drives an OpenAI-compatible server as a loop.Model: Chat
// Completions over SSE, or one JSON object from servers that do not stream. It
// sends the whole conversation with each message and leaves nothing behind at
// the provider, so an exchange that was cut off is simply sent again.
package chatapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"plexus/internal/loop"
	"plexus/internal/store"
)

// Endpoint is where and as whom to ask.
type Endpoint struct {
	URL   string        // base with or without /v1, or the full address of chat/completions
	Model string        // as the server names it
	Key   string        // bearer; "" for servers that need none
	Idle  time.Duration // how long the server may be silent; 0 is 2 minutes
}

// LogValue keeps the key out of logs.
func (e Endpoint) LogValue() slog.Value {
	return slog.GroupValue(slog.String("host", host(e.URL)), slog.String("model", e.Model), slog.Bool("key", e.Key != ""))
}

// String keeps the key out of whatever is printed.
func (e Endpoint) String() string { return e.Model + " at " + host(e.URL) }

// GoString does the same for %#v.
func (e Endpoint) GoString() string { return "chatapi.Endpoint(" + e.String() + ")" }

// Config says how a Model works.
type Config struct {
	Endpoint func(context.Context) (Endpoint, error) // asked for each message, so that changed settings count at once
	HTTP     *http.Client                            // nil for one with the proxies of the environment; redirects are never followed
	Log      *slog.Logger
}

// Bounds.
const (
	defaultIdle = 2 * time.Minute
	maxReply    = 32 << 20 // bytes of a response
	maxEvent    = 4 << 20  // bytes of one event in it
	maxError    = 64 << 10 // bytes of an error that are read
	attempts    = 3        // of a request that a broken server did not take
	maxPause    = 10 * time.Second
	afterEnd    = 2 * time.Second // wait for [DONE] after the reply is complete
)

// Model is a loop.Model over one endpoint. It keeps no state between messages and
// is safe for concurrent use.
type Model struct {
	endpoint func(context.Context) (Endpoint, error)
	client   *http.Client
	log      *slog.Logger
	pause    time.Duration // before the second attempt; doubled for the third
}

var _ loop.Model = (*Model)(nil)

// New returns the model of an endpoint.
func New(c Config) *Model {
	client := http.Client{}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	// A redirect would carry the conversation to a place that nobody set.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.Timeout = 0 // a reply may take long; silence is what ends it
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Model{endpoint: c.Endpoint, client: &client, log: log, pause: 500 * time.Millisecond}
}

// Recover sends again: a request that was cut off has left nothing behind.
func (m *Model) Recover(ctx context.Context, req loop.Send, on loop.Observer) (loop.Reply, error) {
	return m.Send(ctx, req, on)
}

// Send implements loop.Model. A reply that breaks off comes back as far as it
// came, with a Fault.
func (m *Model) Send(ctx context.Context, req loop.Send, on loop.Observer) (loop.Reply, error) {
	x, err := m.prepare(ctx, req, on)
	if err != nil {
		return loop.Reply{}, err
	}
	if err := on.Delivery(store.DeliveryDispatched, ""); err != nil {
		return loop.Reply{}, err
	}
	for n := 1; ; n++ {
		reply, err := x.attempt(ctx)
		var again *retry
		if !errors.As(err, &again) {
			return reply, err
		}
		if n == attempts {
			return reply, again.fault
		}
		wait := m.pause << (n - 1)
		if again.after > 0 {
			wait = again.after
		}
		on.Status(fmt.Sprintf("the server answered %d; trying again", again.status))
		m.log.Warn("server error, trying again", slog.Any("endpoint", x.endpoint), slog.Int("status", again.status), slog.Int("attempt", n))
		if err := sleep(ctx, wait); err != nil {
			return reply, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retry is a failure that left nothing behind and may pass.
type retry struct {
	fault  *loop.Fault
	status int
	after  time.Duration // what the server asks for, 0 for nothing
}

func (r *retry) Error() string { return r.fault.Text }

// target is the address to post to. A base without a version gets /v1.
func target(base string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", errors.New("it must be an address such as http://localhost:11434/v1")
	}
	u.Fragment = ""
	path := strings.TrimRight(u.Path, "/")
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
	case versioned(path):
		path += "/chat/completions"
	default:
		path += "/v1/chat/completions"
	}
	u.Path, u.RawPath = path, ""
	return u.String(), nil
}

// versioned reports whether a segment of a path is a version, as in /v1 or /v1beta/openai.
func versioned(path string) bool {
	for s := range strings.SplitSeq(path, "/") {
		if len(s) > 1 && s[0] == 'v' && s[1] >= '0' && s[1] <= '9' {
			return true
		}
	}
	return false
}

// host is the part of an address that may be shown: no user, path or query.
func host(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" {
		return "the API server"
	}
	return u.Host
}
