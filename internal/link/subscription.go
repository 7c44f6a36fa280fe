package link

import (
	"sync"
	"time"
)

// subscription carries the events of one turn from the connection to one
// reader: in order, none left out. While the reader is slow the events queue; when the
// queue is full the connection is not read until there is room.
type subscription struct {
	out  chan any
	stop chan struct{} // closed by cancel
	wake chan struct{} // something was queued; holds one
	room chan struct{} // something was taken; holds one
	max  int           // bytes that may be queued

	mu    sync.Mutex
	queue []queued
	size  int
}

type queued struct {
	msg  any
	size int
}

func newSubscription(max int) *subscription {
	return &subscription{
		out:  make(chan any),
		stop: make(chan struct{}),
		wake: make(chan struct{}, 1),
		room: make(chan struct{}, 1),
		max:  max,
	}
}

// push queues msg, for which there was no room, once there is: within limit, or it reports false.
func (s *subscription) push(msg any, size int, limit time.Duration, ended <-chan struct{}) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-s.room:
			if s.offer(msg, size) {
				return true
			}
		case <-s.stop:
			return true
		case <-ended:
			return true
		case <-timer.C:
			return false
		}
	}
}

// offer queues msg if there is room. A message on its own always fits: its size is bounded by the connection.
func (s *subscription) offer(msg any, size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size > 0 && s.size+size > s.max {
		return false
	}
	s.queue = append(s.queue, queued{msg, size})
	s.size += size
	signal(s.wake)
	return true
}

func (s *subscription) take() (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil, false
	}
	q := s.queue[0]
	s.queue[0] = queued{}
	s.queue = s.queue[1:]
	s.size -= q.size
	signal(s.room)
	return q.msg, true
}

// pump hands the queue to the reader until cancel, or, after the connection ended, until it is empty.
func (s *subscription) pump(ended <-chan struct{}) {
	defer close(s.out)
	for {
		msg, ok := s.take()
		if ok {
			select {
			case s.out <- msg:
				continue
			case <-s.stop:
				return
			}
		}
		select {
		case <-s.wake:
		case <-s.stop:
			return
		case <-ended:
			if msg, ok = s.take(); !ok {
				return
			}
			select {
			case s.out <- msg:
			case <-s.stop:
				return
			}
		}
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
