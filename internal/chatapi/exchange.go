package chatapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"plexus/internal/loop"
	"plexus/internal/store"
)

// message is one entry of a request's conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// exchange is one message on its way.
type exchange struct {
	model    *Model
	endpoint Endpoint
	target   string
	body     []byte
	on       loop.Observer
}

// prepare makes the request of a message. Its faults are certain: nothing was sent.
func (m *Model) prepare(ctx context.Context, req loop.Send, on loop.Observer) (*exchange, error) {
	e, err := m.endpoint(ctx)
	if err != nil {
		return nil, unset(fmt.Sprintf("The settings of the API model could not be read: %v.", err), "Check the settings and the key store (plexus doctor).")
	}
	if strings.TrimSpace(e.URL) == "" {
		return nil, unset("No API server is set. Your message is kept.", "Set its address: plexus config set model.api.url http://localhost:11434/v1")
	}
	if strings.TrimSpace(e.Model) == "" {
		return nil, unset("No model of the API server is set. Your message is kept.", "Set its name: plexus config set model.api.model NAME")
	}
	to, err := target(e.URL)
	if err != nil {
		return nil, unset(fmt.Sprintf("The address of the API server is not one: %v.", err), "Set it right: plexus config set model.api.url http://localhost:11434/v1")
	}
	if e.Key = strings.TrimSpace(e.Key); strings.ContainsFunc(e.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, unset("The API key has characters that no key has.", "Set it again: plexus secret set model.api.key")
	}
	if e.Idle <= 0 {
		e.Idle = defaultIdle
	}
	history, err := req.History(ctx)
	if err != nil {
		return nil, err
	}
	messages := make([]message, 0, len(history)+1)
	for _, h := range history {
		messages = append(messages, message{Role: h.Role, Content: h.Text})
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false) // code is full of < and &, and servers count bytes
	err = enc.Encode(struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Stream   bool      `json:"stream"`
	}{e.Model, append(messages, message{Role: "user", Content: req.Text}), true})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return &exchange{model: m, endpoint: e, target: to, body: body.Bytes(), on: on}, nil
}

// errSilent is the cause with which a request ends when the server says nothing.
var errSilent = errors.New("the server is silent")

// attempt sends the request once and reads the reply. A *retry says that the
// server broke before it took the message.
func (x *exchange) attempt(parent context.Context) (loop.Reply, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	idle := time.AfterFunc(x.endpoint.Idle, func() { cancel(errSilent) })
	defer idle.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.target, bytes.NewReader(x.body))
	if err != nil {
		return loop.Reply{}, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	req.Header.Set("User-Agent", "plexus")
	if x.endpoint.Key != "" {
		req.Header.Set("Authorization", "Bearer "+x.endpoint.Key)
	}
	start := time.Now()
	resp, err := x.model.client.Do(req)
	if err != nil {
		return loop.Reply{}, x.unreached(ctx, err)
	}
	defer resp.Body.Close()
	body := &lively{r: resp.Body, alive: func() { idle.Reset(x.endpoint.Idle) }}
	if resp.StatusCode != http.StatusOK {
		head, _ := io.ReadAll(io.LimitReader(body, maxError)) // what came of it is enough
		if err := context.Cause(parent); err != nil {
			return loop.Reply{}, err
		}
		return loop.Reply{}, x.refusal(resp.StatusCode, resp.Header, head)
	}
	if err := x.on.Delivery(store.DeliveryAccepted, resp.Header.Get("X-Request-Id")); err != nil {
		return loop.Reply{}, err
	}
	r := &reading{exchange: x, ended: func() { idle.Reset(min(afterEnd, x.endpoint.Idle)); body.alive = func() {} }}
	err = r.read(resp.Header, io.LimitReader(body, maxReply+1))
	if err == nil {
		err = r.complete()
	} else {
		err = r.broken(ctx, err)
	}
	x.model.log.Debug("api reply", slog.Any("endpoint", x.endpoint), slog.Duration("took", time.Since(start)), slog.Int("bytes", r.text.Len()), slog.Bool("ok", err == nil))
	if r.model == "" {
		r.model = x.endpoint.Model
	}
	return loop.Reply{Text: r.text.String(), Model: r.model}, err
}

// lively tells of each read that brings something.
type lively struct {
	r     io.Reader
	alive func()
}

func (l *lively) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if n > 0 {
		l.alive()
	}
	return n, err
}

// unreached is the fault of a request that got no response.
func (x *exchange) unreached(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errSilent):
		return x.silent()
	case cause != nil:
		return cause
	}
	var wrapped *url.Error // its text has the whole address
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var op *net.OpError
	var dns *net.DNSError
	never := errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
	return &loop.Fault{Code: loop.FaultNetwork, Unsent: never,
		Text: fmt.Sprintf("The API server %s cannot be reached: %s. Your message is kept.", host(x.endpoint.URL), x.safe(err.Error())),
		Todo: "Check that it runs and that model.api.url is right, then send again."}
}

// read takes the body for what it is: events, or one JSON object.
func (r *reading) read(h http.Header, body io.Reader) error {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	buffered, first, err := peek(body)
	if err != nil {
		return err
	}
	switch {
	case kind == "text/event-stream":
		return r.events(buffered)
	case first == '{':
		return r.whole(buffered)
	case first == 'd' || first == 'e' || first == ':' || first == 'i': // data, event, a comment, id
		return r.events(buffered)
	case first == 0:
		return r.exchange.bad("an empty answer")
	case first == '<':
		return r.exchange.bad("a web page")
	}
	return r.exchange.bad("something that is not its protocol")
}
