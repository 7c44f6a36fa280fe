package practice

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrClosed is returned when the site ended while something waited for it.
var ErrClosed = errors.New("the practice site is closed")

// The faults that the site can have. A scenario's reply may name all but swallow-click.
const (
	FaultError        = "error"         // the answer breaks off with an error card
	FaultRateLimit    = "rate-limit"    // the message is refused with 429 and a dialog
	FaultTooLong      = "too-long"      // the message is refused with 413 and a notice, whatever its length
	FaultCut          = "cut"           // the connection breaks in mid-answer; the answer goes on at the server
	FaultFreeze       = "freeze"        // the stream stays open and says nothing more
	FaultSlow         = "slow"          // a long pause before each piece of the answer
	FaultSwallowClick = "swallow-click" // the page ignores a click on send
)

// Where a fault is played.
type place int

const (
	atSend   place = iota // instead of accepting the message
	atStream              // in the answer
	atPage                // by the client side
)

// places has every fault; a new one starts here.
var places = map[string]place{
	FaultError: atStream, FaultRateLimit: atSend, FaultTooLong: atSend, FaultCut: atStream,
	FaultFreeze: atStream, FaultSlow: atStream, FaultSwallowClick: atPage,
}

// Fault is something that shall go wrong, as in POST /practice/fault.
type Fault struct {
	// Name is one of the Fault constants.
	Name string `json:"name"`
	// Count is how often; 0 means once.
	Count int `json:"count,omitempty"`
	// Skip is how many occasions pass unharmed before.
	Skip int `json:"skip,omitempty"`
	// At is how many pieces of the answer's text arrive before a fault in the stream; 0 means half of them.
	At int `json:"at,omitempty"`
	// Delay, in milliseconds, is the pause of FaultSlow and the silence before FaultCut; 0 means 200.
	Delay int `json:"delayMs,omitempty"`
}

const usualDelay = 200 * time.Millisecond

// FaultNames lists all faults, sorted.
func FaultNames() []string {
	var names []string
	for n := range places {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// faults holds what was set and has not happened yet.
type faults struct {
	mu      sync.Mutex
	armed   []Fault
	page    []Fault       // atPage, until a page takes them
	changed chan struct{} // closed and replaced when page grows
}

func (f *faults) init() { f.changed = make(chan struct{}) }

// SetFault arms a fault for the occasions to come. A fault for the page goes to one page that is open or opens, which is when
// the log has a KindFaultArmed for it.
func (s *Site) SetFault(f Fault) error {
	where, ok := places[f.Name]
	if !ok {
		return fmt.Errorf("set fault: %q is not one of %q", f.Name, FaultNames())
	}
	if f.Count < 0 || f.Skip < 0 || f.At < 0 || f.Delay < 0 {
		return fmt.Errorf("set fault %s: negative number", f.Name)
	}
	f.Count = max(f.Count, 1)
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	if where != atPage {
		s.faults.armed = append(s.faults.armed, f)
		return nil
	}
	s.faults.page = append(s.faults.page, f)
	close(s.faults.changed)
	s.faults.changed = make(chan struct{})
	return nil
}

// take returns the fault, if any, that falls on an occasion at a place.
func (f *faults) take(at place) (Fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.armed {
		a := &f.armed[i]
		if places[a.Name] != at {
			continue
		}
		if a.Skip > 0 {
			a.Skip--
			return Fault{}, false
		}
		got := *a
		if a.Count--; a.Count == 0 {
			f.armed = slices.Delete(f.armed, i, i+1)
		}
		return got, true
	}
	return Fault{}, false
}

// forPage hands the page faults to the page that asks first. It waits for one, but not longer than patience.
func (f *faults) forPage(ctx context.Context, patience time.Duration) []Fault {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		f.mu.Lock()
		got, changed := f.page, f.changed
		f.page = nil
		f.mu.Unlock()
		if len(got) > 0 {
			return got
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}
