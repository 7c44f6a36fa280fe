// Package client is the Go client of a running daemon's API. The CLI uses it and
// nothing else of the daemon, whether the daemon is another process or this one.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"plexus/internal/config"
)

// Client speaks to one daemon. Safe for concurrent use.
type Client struct {
	http  *http.Client
	paths config.Paths // where a restarted daemon says how it is reached; empty for New

	mu    sync.Mutex // guards what a restart of the daemon changes
	base  string
	token config.Secret
}

// Error is what the daemon answered instead of doing what was asked.
type Error struct {
	Status int    `json:"-"`
	Code   string `json:"code"`
	Text   string `json:"text"`
	Todo   string `json:"todo"`
}

func (e *Error) Error() string { return e.Text }

// maxAnswer bounds an answer that is read whole.
const maxAnswer = 64 << 20

// New returns a client of the daemon with this state.
func New(s config.State) *Client {
	c := &Client{
		http: &http.Client{
			Transport: &http.Transport{
				Proxy:               nil, // the loopback is never behind one
				DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
				MaxIdleConnsPerHost: 8,
				IdleConnTimeout:     30 * time.Second,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	c.aim(s)
	return c
}

func (c *Client) aim(s config.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.token = "http://127.0.0.1:"+strconv.Itoa(s.Port), config.Secret(s.Token)
}

func (c *Client) target() (string, config.Secret) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base, c.token
}

// refresh reads again how the daemon is reached: after a restart its token is another, and perhaps its port.
func (c *Client) refresh() {
	if c.paths.Home == "" {
		return
	}
	if s, err := config.ReadState(c.paths); err == nil {
		c.aim(s)
	}
}

// Find returns a client of the daemon of these paths, or config.ErrNoDaemon when none answers.
func Find(ctx context.Context, p config.Paths) (*Client, config.State, error) {
	s, err := config.ReadState(p)
	if err != nil {
		return nil, config.State{}, err
	}
	c := New(s)
	c.paths = p
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if err := c.Get(ctx, "/api/version", nil); err != nil {
		return nil, config.State{}, config.ErrNoDaemon // it died, or another program has its port
	}
	return c, s, nil
}

// Get reads path into out; nil drops the answer.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	return c.Do(ctx, Request{Method: http.MethodGet, Path: path, Out: out})
}

// Post sends in to path and reads the answer into out.
func (c *Client) Post(ctx context.Context, path string, in, out any) error {
	return c.Do(ctx, Request{Method: http.MethodPost, Path: path, In: in, Out: out})
}

// Request is one call of the API. In and Out are encoded as JSON; nil for none.
type Request struct {
	Method string
	Path   string
	In     any
	Out    any
}

// Do makes a call. What the daemon refuses is an *Error.
func (c *Client) Do(ctx context.Context, r Request) error {
	body, err := encodeBody(r.In)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	resp, err := c.send(ctx, r, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	if r.Out == nil {
		return nil
	}
	if raw, ok := r.Out.(*[]byte); ok {
		*raw = data
		return nil
	}
	if err := json.Unmarshal(data, r.Out); err != nil {
		return fmt.Errorf("read the daemon's answer: %w", err)
	}
	return nil
}

func encodeBody(in any) (io.Reader, error) {
	if in == nil {
		return http.NoBody, nil
	}
	data, err := json.Marshal(in)
	return bytes.NewReader(data), err
}

// send returns a response with a good status; the caller closes its body.
func (c *Client) send(ctx context.Context, r Request, body io.Reader) (*http.Response, error) {
	base, token := c.target()
	req, err := http.NewRequestWithContext(ctx, r.Method, base+r.Path, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+token.Reveal())
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var urlErr *url.Error
		if errors.As(err, &urlErr) {
			err = urlErr.Err
		}
		return nil, fmt.Errorf("reach the daemon: %w", err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	var failed struct {
		Error Error `json:"error"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&failed); err != nil || failed.Error.Text == "" {
		return nil, fmt.Errorf("the daemon answered %s", resp.Status)
	}
	failed.Error.Status = resp.StatusCode
	return nil, &failed.Error
}
