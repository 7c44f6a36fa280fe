package store

import (
	"context"
	"errors"
	"fmt"
)

// What an event carries of a message's text. A silent message is not read by
// people; its event is there for its delivery.
const (
	maxEventText  = 64 << 10
	maxSilentText = 2 << 10
)

// A reply that streams has its text in message_chunks, after its row's own. It
// is joined in the same statement: a reply that ends meanwhile is read as it
// was before or after, never without its chunks.
const messageColumns = `id, thread, coalesce(turn, ''), round, kind,
	text || coalesce((SELECT group_concat(c.text, '' ORDER BY c.n) FROM message_chunks AS c WHERE c.message = messages.n), ''),
	wire, final, recovered, delivery, receipt, model, created`

func scanMessage(row scanner) (Message, error) {
	var m Message
	var created int64
	err := row.Scan(&m.ID, &m.Thread, &m.Turn, &m.Round, &m.Kind, &m.Text, &m.Wire, &m.Final, &m.Recovered, &m.Delivery, &m.Receipt, &m.Model, &created)
	m.Created = fromStamp(created)
	return m, err
}

// AddMessage writes a message. An empty ID or Created is filled in. A reply
// that is not Final makes no event: it is shown as it streams.
func (s *Store) AddMessage(ctx context.Context, m Message) (Message, error) {
	var out Message
	err := s.write(ctx, "add message", m.ID, func(t *tx) (err error) {
		out, err = t.addMessage(m)
		return err
	})
	return out, err
}

func (t *tx) addMessage(m Message) (Message, error) {
	if m.ID == "" {
		m.ID = NewID("m")
	}
	m.Text, m.Wire, m.Cut = clean(m.Text), clean(m.Wire), false
	m.Created = orNow(m.Created, t.now)
	_, err := t.exec(`INSERT INTO messages (id, thread, turn, round, kind, text, wire, final, recovered, delivery, receipt, model, created)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, m.Thread, orNull(m.Turn), m.Round, string(m.Kind), m.Text, m.Wire, m.Final, m.Recovered, string(m.Delivery), m.Receipt, m.Model, stamp(m.Created))
	if err != nil || m.Kind == MessageReply && !m.Final {
		return m, err
	}
	event, err := t.messageChanged(m)
	if err == nil && m.Kind == MessageUser {
		t.indexText(event, m.Text)
	}
	return m, err
}

// BeginReply moves a turn and adds the reply that it waits for from then on, in one transaction.
func (s *Store) BeginReply(ctx context.Context, turn string, m TurnMove, reply Message) (Turn, Message, error) {
	var tu Turn
	err := s.write(ctx, "begin a reply in turn", turn, func(t *tx) (err error) {
		if tu, err = t.moveTurn(turn, m); err != nil {
			return err
		}
		reply.Thread, reply.Turn, reply.Kind, reply.Final = tu.Thread, tu.ID, MessageReply, false
		reply, err = t.addMessage(reply)
		return err
	})
	return tu, reply, err
}

// CompleteReply makes a reply final and moves its turn, in one transaction. Errors as of FinishReply and MoveTurn.
func (s *Store) CompleteReply(ctx context.Context, id string, end MessageEnd, m TurnMove) (Turn, Message, error) {
	var tu Turn
	var out Message
	err := s.write(ctx, "complete reply", id, func(t *tx) (err error) {
		if out, err = t.finishReply(id, end); err != nil {
			return err
		}
		tu, err = t.moveTurn(out.Turn, m)
		return err
	})
	return tu, out, err
}

// messageChanged appends the message's event and returns its id.
func (t *tx) messageChanged(m Message) (int64, error) {
	limit := maxEventText
	if m.Kind == MessageResults || m.Kind == MessageCorrection {
		limit = maxSilentText
	}
	if text := head(m.Text, limit); text != m.Text {
		m.Text, m.Cut = text, true
	}
	m.Wire = ""
	return t.appendRow(m.Thread, m.Turn, EventMessage, m)
}

// message returns a message as the transaction sees it.
func (t *tx) message(id string) (Message, error) {
	return one(context.Background(), t, scanMessage, "SELECT "+messageColumns+" FROM messages WHERE id = ?", id)
}

// Message returns a message, a reply that streams with its text so far.
func (s *Store) Message(ctx context.Context, id string) (Message, error) {
	m, err := one(ctx, s, scanMessage, "SELECT "+messageColumns+" FROM messages WHERE id = ?", id)
	return m, s.fail("message", id, err)
}

// Messages returns the messages of a thread, oldest first, each whole.
func (s *Store) Messages(ctx context.Context, thread string) ([]Message, error) {
	all, err := list(ctx, s, scanMessage, "SELECT "+messageColumns+" FROM messages WHERE thread = ? ORDER BY n", thread)
	return all, s.fail("messages of thread", thread, err)
}

// TurnMessages returns the messages of a turn, oldest first, each whole.
func (s *Store) TurnMessages(ctx context.Context, turn string) ([]Message, error) {
	all, err := list(ctx, s, scanMessage, "SELECT "+messageColumns+" FROM messages WHERE turn = ? ORDER BY n", turn)
	return all, s.fail("messages of turn", turn, err)
}

// SetDelivery writes what is known of a message on its way. An empty receipt
// keeps the one that there is. ErrConflict for a reply, and for anything but accepted after
// accepted: what arrived stays arrived.
func (s *Store) SetDelivery(ctx context.Context, id string, d Delivery, receipt string) (Message, error) {
	var out Message
	err := s.write(ctx, "set delivery of message", id, func(t *tx) error {
		m, err := t.message(id)
		if err != nil {
			return err
		}
		switch d {
		case DeliveryAttempting, DeliveryDispatched, DeliveryAccepted, DeliveryUnknown, DeliveryFailed:
		default:
			return fmt.Errorf("a message cannot become %q", d)
		}
		if m.Kind == MessageReply || m.Delivery == DeliveryAccepted && d != DeliveryAccepted {
			return fmt.Errorf("%w: it is a %s message, %q", ErrConflict, m.Kind, m.Delivery)
		}
		if out = m; receipt != "" {
			out.Receipt = receipt
		}
		out.Delivery = d
		if out == m {
			return nil
		}
		if _, err := t.exec("UPDATE messages SET delivery = ?, receipt = ? WHERE id = ?", string(d), out.Receipt, id); err != nil {
			return err
		}
		_, err = t.messageChanged(out)
		return err
	})
	return out, err
}

// AppendReply adds text to a reply that streams. It costs what delta costs,
// whatever came before; a caller collects small deltas first. It makes no event.
// ErrConflict when the reply is final.
func (s *Store) AppendReply(ctx context.Context, id, delta string) error {
	if delta == "" {
		return nil
	}
	return s.write(ctx, "append to reply", id, func(t *tx) error {
		n, err := t.exec(`INSERT INTO message_chunks (message, text)
			SELECT n, ? FROM messages WHERE id = ? AND kind = 'reply' AND final = 0`, delta, id)
		if err != nil || n > 0 {
			return err
		}
		return t.notStreaming(id)
	})
}

func (t *tx) notStreaming(id string) error {
	m, err := t.message(id)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: the %s message is final", ErrConflict, m.Kind)
}

// MessageEnd is how a reply ended.
type MessageEnd struct {
	Text      string   // the whole text; "" keeps what streamed
	Model     string   // as the provider names it
	Recovered bool     // Text was read from the rendered page
	Notes     []string // the reply's notes, which become events with it
}

// FinishReply makes a reply final, for good. ErrConflict when it is already.
func (s *Store) FinishReply(ctx context.Context, id string, end MessageEnd) (Message, error) {
	var out Message
	err := s.write(ctx, "finish reply", id, func(t *tx) (err error) {
		out, err = t.finishReply(id, end)
		return err
	})
	return out, err
}

func (t *tx) finishReply(id string, end MessageEnd) (Message, error) {
	m, err := t.message(id)
	if err != nil {
		return Message{}, err
	}
	if m.Kind != MessageReply || m.Final {
		return Message{}, t.notStreaming(id)
	}
	if end.Text != "" {
		m.Text = end.Text
	}
	m.Text, m.Model, m.Recovered, m.Final = clean(m.Text), clean(end.Model), end.Recovered, true
	if _, err := t.exec("UPDATE messages SET text = ?, model = ?, recovered = ?, final = 1 WHERE id = ?", m.Text, m.Model, m.Recovered, id); err != nil {
		return Message{}, err
	}
	if _, err := t.exec("DELETE FROM message_chunks WHERE message = (SELECT n FROM messages WHERE id = ?)", id); err != nil {
		return Message{}, err
	}
	if _, err := t.messageChanged(m); err != nil {
		return Message{}, err
	}
	for _, text := range end.Notes {
		if _, err := t.appendRow(m.Thread, m.Turn, EventNote, Note{Message: m.ID, Round: m.Round, Text: text}); err != nil {
			return Message{}, err
		}
	}
	return m, nil
}

// CountMessages returns how many messages of a kind the thread has.
func (s *Store) CountMessages(ctx context.Context, thread string, kind MessageKind) (int, error) {
	n, err := one(ctx, s, scanCount, "SELECT count(*) FROM messages WHERE thread = ? AND kind = ?", thread, string(kind))
	return n, s.fail("count messages of thread", thread, err)
}

// PromptArrived reports whether a message that carries more than the user's text, the prompt, was accepted in the thread.
func (s *Store) PromptArrived(ctx context.Context, thread string) (bool, error) {
	n, err := one(ctx, s, scanCount, "SELECT count(*) FROM messages WHERE thread = ? AND wire <> '' AND delivery = 'accepted'", thread)
	return n > 0, s.fail("look for the prompt in thread", thread, err)
}

// EverBound reports whether the thread has or had a chat.
func (s *Store) EverBound(ctx context.Context, thread string) (bool, error) {
	n, err := one(ctx, s, scanCount, "SELECT count(*) FROM chats WHERE thread = ?", thread)
	return n > 0, s.fail("look for a chat of thread", thread, err)
}

func scanCount(row scanner) (n int, err error) {
	err = row.Scan(&n)
	return n, err
}

// DiscardReply takes back a reply that is not final: its message will be answered
// again. ErrConflict for anything else.
func (s *Store) DiscardReply(ctx context.Context, id string) error {
	return s.write(ctx, "discard reply", id, func(t *tx) error {
		if _, err := t.exec(`DELETE FROM message_chunks WHERE message =
			(SELECT n FROM messages WHERE id = ? AND kind = 'reply' AND final = 0)`, id); err != nil {
			return err
		}
		n, err := t.exec("DELETE FROM messages WHERE id = ? AND kind = 'reply' AND final = 0", id)
		if err != nil || n > 0 {
			return err
		}
		return t.notStreaming(id)
	})
}

const chatColumns = "id, thread, site, provider, url, project, browser, current, created"

func scanChat(row scanner) (Chat, error) {
	var c Chat
	var created int64
	err := row.Scan(&c.ID, &c.Thread, &c.Site, &c.Provider, &c.URL, &c.Project, &c.Browser, &c.Current, &created)
	c.Created = fromStamp(created)
	return c, err
}

// BindChat makes c the thread's current chat; by its ID it is a new one or a
// new state of a known one, which keeps its Created. Earlier chats of the
// thread stay for the record.
func (s *Store) BindChat(ctx context.Context, c Chat) (Chat, error) {
	if c.ID == "" {
		c.ID = NewID("c")
	}
	var out Chat
	err := s.write(ctx, "bind chat", c.ID, func(t *tx) (err error) {
		if _, err := t.exec("UPDATE chats SET current = 0 WHERE thread = ? AND current = 1", c.Thread); err != nil {
			return err
		}
		out, err = one(ctx, t, scanChat, `INSERT INTO chats (id, thread, site, provider, url, project, browser, current, created)
			VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?)
			ON CONFLICT (id) DO UPDATE SET thread = excluded.thread, site = excluded.site, provider = excluded.provider,
				url = excluded.url, project = excluded.project, browser = excluded.browser, current = 1
			RETURNING `+chatColumns,
			c.ID, c.Thread, c.Site, c.Provider, c.URL, c.Project, c.Browser, stamp(orNow(c.Created, t.now)))
		return err
	})
	return out, err
}

// CurrentChat returns the chat that the thread continues in, if any.
func (s *Store) CurrentChat(ctx context.Context, thread string) (Chat, bool, error) {
	c, err := one(ctx, s, scanChat, "SELECT "+chatColumns+" FROM chats WHERE thread = ? AND current = 1", thread)
	if errors.Is(err, ErrNotFound) {
		return Chat{}, false, nil
	}
	return c, err == nil, s.fail("current chat of thread", thread, err)
}

// UnbindChat leaves the thread without a current chat: its next message opens
// a new one.
func (s *Store) UnbindChat(ctx context.Context, thread string) error {
	return s.write(ctx, "unbind chat of thread", thread, func(t *tx) error {
		_, err := t.exec("UPDATE chats SET current = 0 WHERE thread = ? AND current = 1", thread)
		return err
	})
}
