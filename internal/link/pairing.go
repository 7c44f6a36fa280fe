package link

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Bounds of pairing: a person looks at each, and nobody can bury them in questions.
const (
	maxPairings = 3  // open at one time
	maxOpenings = 10 // opened within timing.window
)

// ErrNoPairing says that no pairing with this code is open: it was answered, ran out, or the browser went away.
var ErrNoPairing = errors.New("no pairing with this code is open")

// PairingInfo is a browser that waits for a person.
type PairingInfo struct {
	Code    string    `json:"code"` // shown by the extension too; the person compares
	Browser string    `json:"browser"`
	Label   string    `json:"label"`
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	Expires time.Time `json:"expires"`
}

// pairing is a connection that waits. It lives no longer than its connection.
type pairing struct {
	info    PairingInfo
	peer    *Peer
	greeted func()        // tells that the connection is known now
	settled chan struct{} // closed when it was answered
}

// openPairing makes a code for p and sends it. When too many wait already it refuses p and returns nil.
func (h *Hub) openPairing(p *Peer, greeted func()) *pairing {
	now := time.Now()
	q := &pairing{
		info: PairingInfo{
			Browser: p.info.Browser, Label: p.info.Label, Version: p.info.Version,
			Since: now, Expires: now.Add(h.timing.pairing),
		},
		peer: p, greeted: greeted, settled: make(chan struct{}),
	}
	h.mu.Lock()
	h.openings = slices.DeleteFunc(h.openings, func(t time.Time) bool { return now.Sub(t) > h.timing.window })
	if len(h.pairings) >= maxPairings || len(h.openings) >= maxOpenings {
		h.mu.Unlock()
		p.refuse("busy", "Other browsers wait for approval already. Answer them in Plexus, then try again.")
		return nil
	}
	h.openings = append(h.openings, now)
	for q.info.Code == "" || h.pairings[q.info.Code] != nil {
		q.info.Code = newCode()
	}
	h.pairings[q.info.Code] = q
	h.notify()
	h.mu.Unlock()
	if out, err := encode(Pairing{Code: q.info.Code}, rand.Text); err == nil {
		p.write(out) // one that fails ends the connection, and the pairing with it
	}
	p.log.Info("browser asks to pair", slog.String("label", p.info.Label))
	return q
}

// expire refuses the pairing when its time is over.
func (h *Hub) expire(q *pairing) {
	timer := time.NewTimer(h.timing.pairing)
	defer timer.Stop()
	select {
	case <-timer.C:
		if _, err := h.takePairing(q.info.Code); err == nil {
			q.peer.refuse("expired", "Nobody approved this browser in time.")
		}
	case <-q.settled:
	case <-q.peer.ctx.Done():
	}
}

// takePairing removes an open pairing, so that it is answered once.
func (h *Hub) takePairing(code string) (*pairing, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.pairings[code]
	if q == nil {
		return nil, ErrNoPairing
	}
	delete(h.pairings, code)
	close(q.settled)
	h.notify()
	return q, nil
}

// dropPairing forgets the pairing of a connection that ended. The caller holds the lock.
func (h *Hub) dropPairing(p *Peer) {
	for code, q := range h.pairings {
		if q.peer == p {
			delete(h.pairings, code)
		}
	}
}

// Pairings lists the browsers that wait for a person, oldest first.
func (h *Hub) Pairings() []PairingInfo {
	h.mu.Lock()
	defer h.mu.Unlock()
	infos := make([]PairingInfo, 0, len(h.pairings))
	for _, q := range h.pairings {
		infos = append(infos, q.info)
	}
	slices.SortFunc(infos, func(a, b PairingInfo) int { return a.Since.Compare(b.Since) })
	return infos
}

// Approve answers a pairing with yes: the browser gets a token and is connected.
// An earlier token of the same browser ends with it. ErrNoPairing when nothing waits under code.
func (h *Hub) Approve(ctx context.Context, code string) error {
	q, err := h.takePairing(code)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		q.peer.refuse("expired", "The approval was given up.")
		return fmt.Errorf("approve a browser: %w", err)
	}
	token, hash := newToken()
	b := Browser{ID: q.info.Browser, Token: hash, Created: time.Now()}
	if err := h.welcome(q.peer, b, token); err != nil {
		q.peer.end("approval failed")
		return fmt.Errorf("approve a browser: %w", err)
	}
	q.greeted()
	return nil
}

// Deny answers a pairing with no. ErrNoPairing when nothing waits under code.
func (h *Hub) Deny(_ context.Context, code string) error {
	q, err := h.takePairing(code)
	if err != nil {
		return err
	}
	q.peer.refuse("denied", "A person said no to this browser.")
	return nil
}
