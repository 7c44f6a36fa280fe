package chattab

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf16"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// settle finds out whether a message that the page was let click has reached the chat. cause is why that is not known; nil
// after a restart. It returns an error where nothing can be proved, or where the site said why it refused.
func (s *session) settle(ctx context.Context, cause error) (arrived bool, err error) {
	var refused *link.ResponseError
	if errors.As(cause, &refused) {
		if _, named := noticeCodes[refused.Code]; named {
			f := responseFault(refused)
			f.Unsent = f.Code == loop.FaultTooLong || f.Code == loop.FaultRateLimited || !refused.Clicked
			return false, f
		}
		if !refused.Clicked {
			return false, nil // the page says itself that it did not click
		}
	}
	var (
		proof proof
		draft bool
	)
	for range maxReopen {
		if s.gone {
			if err := s.connect(ctx); err != nil {
				return false, err
			}
		}
		if known, err := s.fromFact(ctx); known || err != nil {
			return s.accepted, err
		}
		if proof, draft, err = s.prove(ctx); !s.gone {
			break
		}
	}
	switch {
	case err != nil:
		return false, err
	case proof == present:
		s.accept(s.receipt, "", "")
		s.reading.lost = "the reply's frames were not seen"
		return true, s.err
	case proof == absent && (code(cause) != "no-post" || draft):
		return false, nil
	case code(cause) == "no-post":
		return false, responseFault(refused)
	}
	return false, fault(loop.FaultUnknownOutcome, "")
}

// fromFact asks what the browser held of the turn when it connected. known is false when that settles nothing.
func (s *session) fromFact(ctx context.Context) (known bool, err error) {
	if !s.holds() {
		return false, nil
	}
	s.send, s.tab = s.fact.Send, s.fact.Tab
	if s.fact.Stage == "dispatched" {
		// The page is between click and request.
		_, err := s.until(ctx, s.m.timing.settle, func() bool { return s.accepted || s.fact.Stage != "dispatched" })
		if err != nil {
			return false, err
		}
	}
	if s.fact.Stage == "posted" {
		s.accept(s.fact.MessageID, "", "")
	}
	return s.accepted, s.err
}

// proof is what a page says of our message.
type proof int

const (
	unclear proof = iota
	present
	absent
)

// sureLooks is how many looks in a row must find a page the same before a message counts as not there: one that was just
// loaded shows its parts one after the other.
const sureLooks = 2

// prove looks at the page until it says something certain. draft says that our text still is in the message box.
func (s *session) prove(ctx context.Context) (p proof, draft bool, err error) {
	if s.tab == 0 {
		if s.chat.Provider == "" {
			return unclear, false, nil // nobody knows where to look
		}
		if err := s.openTab(ctx, s.chat.URL); err != nil {
			return unclear, false, s.blind(err)
		}
	}
	if s.chat.Provider != "" { // a chat that is to be made has nothing of what the thread had in one that is gone
		if s.past, err = s.req.History(ctx); err != nil {
			return unclear, false, err
		}
	}
	var before link.PageFacts
	same := 0 // looks in a row that found the same page without our message
	for range max(sureLooks, int(s.m.timing.proof/s.m.timing.look)) {
		var facts link.PageFacts
		err := s.command(ctx, s.m.timing.command, link.LookPage{Thread: s.req.Thread.ID, Tab: s.tab}, &facts)
		if retryable(code(err)) && s.chat.Provider != "" {
			err = s.openTab(ctx, s.chat.URL) // the tab or its page is lost: the next look sees a fresh one
			facts.Composer = "missing"
		}
		if err != nil {
			return unclear, false, s.blind(err)
		}
		if s.accepted {
			return present, false, nil
		}
		switch s.judge(facts) {
		case present:
			id, _ := s.m.site.chatOf(facts.URL)
			s.bind(id, facts.URL)
			return present, false, s.err
		case absent:
			if !reflect.DeepEqual(facts, before) {
				same = 0
			}
			if same++; same >= sureLooks {
				return absent, isDraft(facts.Draft, s.req.Text), s.err
			}
		default:
			same = 0
		}
		before = facts
		if err := s.sleep(ctx, s.m.timing.look); err != nil {
			return unclear, false, s.blind(err)
		}
	}
	return unclear, false, nil
}

// blind is what comes of a look that failed: no proof. Only the end of the session is an error.
func (s *session) blind(err error) error {
	var refused *link.ResponseError
	if s.err != nil {
		return s.err
	}
	if errors.As(err, &refused) || errors.Is(err, link.ErrClosed) || errors.Is(err, errSlow) {
		return nil
	}
	return err
}

// judge decides from a page's facts whether our message is in the chat. It must know the newest message of ours that it sees
// for either this one or the one before; anything else proves nothing.
func (s *session) judge(facts link.PageFacts) proof {
	if s.chat.Provider != "" && facts.ConversationID != "" && facts.ConversationID != s.chat.Provider {
		return unclear
	}
	var newest *link.PageMessage
	same := 0
	for i, m := range facts.Messages {
		if m.Role != "user" {
			continue
		}
		newest = &facts.Messages[i]
		if s.receipt != "" && m.ID == s.receipt {
			return present
		}
		if alike(m.Text, s.req.Text) {
			same++
		}
	}
	before, sent := s.earlier()
	if newest != nil && alike(newest.Text, s.req.Text) && same > sent {
		return present
	}
	if facts.Composer != "ready" || facts.Generating {
		return unclear
	}
	switch {
	case newest == nil && before == "" && len(facts.Messages) == 0:
		// Until the site gives a new chat its address, a page that is loaded anew shows the empty place where the chat was begun.
		if isDraft(facts.Draft, s.req.Text) || s.chat.Provider != "" && facts.ConversationID == s.chat.Provider {
			return absent
		}
	case newest != nil && before != "" && alike(newest.Text, before) && same <= sent:
		return absent
	}
	return unclear
}

// earlier returns the newest message that was sent in the chat before ours, and how many of them have the same text as ours.
func (s *session) earlier() (newest string, same int) {
	for _, e := range s.past {
		if e.Role != "user" {
			continue
		}
		newest = e.Text
		if alike(e.Text, s.req.Text) {
			same++
		}
	}
	return newest, same
}

// alike compares a text as a page shows it with one as it was sent: without white space, and, as a page may take its
// marks for Markdown, at least in its letters and digits.
func alike(shown, sent string) bool {
	if squeeze(shown, notSpace) == squeeze(sent, notSpace) {
		return true
	}
	a, b := squeeze(shown, letter), squeeze(sent, letter)
	return a == b && a != ""
}

// maxDraft is where the extension cuts a draft, in UTF-16 units.
const maxDraft = 500

// isDraft reports whether draft, which may be cut, is text.
func isDraft(draft, text string) bool {
	cut := len(utf16.Encode([]rune(draft))) >= maxDraft
	draft, text = squeeze(strings.TrimSuffix(draft, "\uFFFD"), notSpace), squeeze(text, notSpace) // half of a sign may be cut off
	return draft != "" && (draft == text || cut && strings.HasPrefix(text, draft))
}

func notSpace(r rune) bool { return !unicode.IsSpace(r) }
func letter(r rune) bool   { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func squeeze(s string, keep func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if keep(r) {
			return r
		}
		return -1
	}, s)
}

// recover settles what an earlier session began. When it returns nil the message is in the chat.
func (s *session) recover(ctx context.Context) error {
	switch s.req.Delivery {
	case store.DeliveryNone, store.DeliveryFailed, store.DeliveryAttempting:
		// Dispatched is written before the page may click: it did not.
		return s.deliver(ctx)
	case store.DeliveryAccepted:
		s.accepted, s.dispatched = true, true
	default:
		s.dispatched = true
		s.status("Looking whether the message arrived")
		arrived, err := s.settle(ctx, nil)
		if err != nil {
			return err
		}
		if !arrived {
			s.dispatched = false
			return s.deliver(ctx)
		}
	}
	return s.takeUp(ctx)
}

// takeUp goes on with the reply of a message that is in the chat: with the browser's frames, from the first, or with the page.
func (s *session) takeUp(ctx context.Context) error {
	s.status("Taking up the reply")
	if !s.holds() || s.fact.Stage != "posted" {
		s.reading.lost = "the browser does not hold the turn"
		return nil
	}
	s.send, s.tab, s.takingUp = s.fact.Send, s.fact.Tab, true
	whole, err := s.refill(ctx)
	if err != nil && !errors.Is(err, link.ErrClosed) && !errors.Is(err, errSlow) {
		return err
	}
	if s.gone {
		return nil // the reading goes on when the browser is back
	}
	if !whole || s.reading.suspect != "" {
		s.reading = newReading(s.chat.Provider)
		s.reading.lost = "the frames are not all there"
	}
	return nil
}
