package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"plexus/internal/store"
)

const (
	reconnectAfter = 300 * time.Millisecond
	reconnectTries = 40       // 12 s: a daemon that restarts is back by then
	maxLine        = 64 << 20 // an event with a long reply
)

// Follow yields a thread's updates after the event number after, then goes on until ctx ends. A broken connection is
// made again from the last event, so that each event comes once and in order; live updates may be missed. The iteration
// ends with an error when the daemon is gone for good.
func (c *Client) Follow(ctx context.Context, thread string, after int64) iter.Seq2[store.Update, error] {
	return func(yield func(store.Update, error) bool) {
		tries := 0
		for {
			err := c.followOnce(ctx, thread, after, func(u store.Update) bool {
				tries = 0
				if u.Event != nil {
					after = u.Event.Seq
				}
				return yield(u, nil)
			})
			switch tries++; {
			case errors.Is(err, errEnough), ctx.Err() != nil:
				return
			case final(err), tries > reconnectTries:
				yield(store.Update{}, fmt.Errorf("follow thread %s: %w", thread, err))
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(reconnectAfter):
			}
			c.refresh()
		}
	}
}

// final reports whether the daemon said no for good. A key that it does not know may be that of the daemon before.
func final(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status != http.StatusUnauthorized && refused.Status != http.StatusServiceUnavailable
}

var errEnough = errors.New("the caller has seen enough")

func (c *Client) followOnce(ctx context.Context, thread string, after int64, each func(store.Update) bool) error {
	path := "/api/threads/" + thread + "/stream?after=" + strconv.FormatInt(after, 10)
	resp, err := c.send(ctx, Request{Method: http.MethodGet, Path: path}, http.NoBody)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewReaderSize(resp.Body, 64<<10)
	kind := ""
	for {
		line, err := readLine(lines)
		if err != nil {
			return err
		}
		if name, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			kind = string(name)
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue // id, comment or the end of an event
		}
		u, err := decodeUpdate(kind, data)
		if err != nil {
			return err
		}
		if (u.Event != nil || u.Live != nil) && !each(u) {
			return errEnough
		}
	}
}

func decodeUpdate(kind string, data []byte) (store.Update, error) {
	var u store.Update
	switch kind {
	case "event":
		u.Event = &store.Event{}
		if err := json.Unmarshal(data, u.Event); err != nil {
			return store.Update{}, fmt.Errorf("read an event: %w", err)
		}
	case "live":
		u.Live = &store.Live{}
		if err := json.Unmarshal(data, u.Live); err != nil {
			return store.Update{}, fmt.Errorf("read a live update: %w", err)
		}
	}
	return u, nil
}

// readLine returns a line without its end. The bytes are its own.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLine:
			return nil, fmt.Errorf("a line of more than %d bytes: %w", maxLine, io.ErrShortBuffer)
		}
	}
}
