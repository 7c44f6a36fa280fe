package store

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReplyStreams(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	u := must(s.EnqueueTurn(ctx, th.ID, "task"))
	before := must(s.Thread(ctx, th.ID)).LastSeq
	m := must(s.AddMessage(ctx, Message{Thread: th.ID, Turn: u.ID, Round: 1, Kind: MessageReply, Text: "start "}))
	for _, delta := range []string{"one ", "", "two\x00 ", "\xe4\xb8", "\x96", "'\"--"} { // a character in two halves
		wantIs(t, s.AppendReply(ctx, m.ID, delta), nil)
	}
	const want = "start one two\x00 世'\"--"
	for name, got := range map[string]Message{
		"Message":      must(s.Message(ctx, m.ID)),
		"Messages":     must(s.Messages(ctx, th.ID))[0],
		"TurnMessages": must(s.TurnMessages(ctx, u.ID))[0],
	} {
		if got.Text != want || got.Final {
			t.Errorf("%s: %q", name, got.Text)
		}
	}
	if last := must(s.Thread(ctx, th.ID)).LastSeq; last != before {
		t.Fatal("a reply that streams made an event")
	}
	end := must(s.FinishReply(ctx, m.ID, MessageEnd{Model: "gpt"}))
	if end.Text != want || !end.Final || end.Model != "gpt" {
		t.Fatalf("%+v", end)
	}
	if diff := cmp.Diff(end, must(s.Message(ctx, m.ID))); diff != "" {
		t.Fatal("returned and kept differ:", diff)
	}
	wantIs(t, s.AppendReply(ctx, m.ID, "late"), ErrConflict)
	_, err := s.FinishReply(ctx, m.ID, MessageEnd{Text: "again"})
	wantIs(t, err, ErrConflict)
	if got := must(s.Message(ctx, m.ID)); got.Text != want {
		t.Fatal("a final message changed")
	}
}

func TestDiscardReply(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	u := must(s.EnqueueTurn(ctx, th.ID, "task"))
	cut := must(s.AddMessage(ctx, Message{Thread: th.ID, Turn: u.ID, Round: 1, Kind: MessageReply}))
	wantIs(t, s.AppendReply(ctx, cut.ID, "half"), nil)
	wantIs(t, s.DiscardReply(ctx, cut.ID), nil)
	wantIs(t, s.DiscardReply(ctx, cut.ID), ErrNotFound)
	if all := must(s.TurnMessages(ctx, u.ID)); len(all) != 0 {
		t.Errorf("it is still there: %+v", all)
	}
	whole := must(s.AddMessage(ctx, Message{Thread: th.ID, Turn: u.ID, Round: 1, Kind: MessageReply, Text: "whole"}))
	must(s.FinishReply(ctx, whole.ID, MessageEnd{}))
	wantIs(t, s.DiscardReply(ctx, whole.ID), ErrConflict)
}

func TestFinishReplyReplaces(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	m := must(s.AddMessage(ctx, Message{Thread: newThread(t, s).ID, Kind: MessageReply}))
	wantIs(t, s.AppendReply(ctx, m.ID, "half"), nil)
	end := must(s.FinishReply(ctx, m.ID, MessageEnd{Text: "the whole", Recovered: true}))
	if end.Text != "the whole" || !end.Recovered {
		t.Fatalf("%+v", end)
	}
	if got := must(s.Message(ctx, m.ID)); got.Text != "the whole" {
		t.Fatal(got.Text)
	}
}

func TestReplyRefusals(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	user := must(s.AddMessage(ctx, Message{Thread: newThread(t, s).ID, Kind: MessageUser, Text: "x"}))
	wantIs(t, s.AppendReply(ctx, user.ID, "x"), ErrConflict)
	wantIs(t, s.AppendReply(ctx, "m_unknown", "x"), ErrNotFound)
	_, err := s.FinishReply(ctx, user.ID, MessageEnd{})
	wantIs(t, err, ErrConflict)
	_, err = s.FinishReply(ctx, "m_unknown", MessageEnd{})
	wantIs(t, err, ErrNotFound)
	_, err = s.AddMessage(ctx, Message{Thread: "t_unknown", Kind: MessageUser})
	wantIs(t, err, ErrNotFound)
	_, err = s.AddMessage(ctx, Message{Thread: user.Thread, Turn: "u_unknown", Kind: MessageReply})
	wantIs(t, err, ErrNotFound)
	_, err = s.AddMessage(ctx, user)
	wantIs(t, err, ErrConflict)
}

func TestMessageEvents(t *testing.T) {
	big := strings.Repeat("é", maxEventText)
	rows := []struct {
		name string
		m    Message
		text int // bytes in the event, -1 for all
	}{
		{"user", Message{Kind: MessageUser, Text: "short", Wire: "wire"}, -1},
		{"large user", Message{Kind: MessageUser, Text: big}, maxEventText},
		{"odd cut", Message{Kind: MessageUser, Text: "x" + big}, maxEventText - 1},
		{"silent", Message{Kind: MessageResults, Text: big}, maxSilentText},
		{"correction", Message{Kind: MessageCorrection, Text: "short"}, -1},
		{"final reply", Message{Kind: MessageReply, Final: true, Text: "x"}, -1},
	}
	s := open(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			th := newThread(t, s)
			row.m.Thread = th.ID
			m := must(s.AddMessage(t.Context(), row.m))
			events := must(s.Events(t.Context(), th.ID, th.LastSeq, 0))
			var got Message
			if err := json.Unmarshal(events[0].Body, &got); err != nil || len(events) != 1 {
				t.Fatal(err, len(events))
			}
			want := m
			want.Wire = ""
			if row.text >= 0 {
				want.Text, want.Cut = m.Text[:row.text], true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(m, must(s.Message(t.Context(), m.ID))); diff != "" {
				t.Fatal("not kept whole:", diff)
			}
		})
	}
}

func TestDelivery(t *testing.T) {
	type step struct {
		to      Delivery
		receipt string
		ok      bool
	}
	rows := []struct {
		name  string
		steps []step
		last  Delivery
		want  string
	}{
		{"to the end", []step{{DeliveryAttempting, "", true}, {DeliveryDispatched, "", true}, {DeliveryAccepted, "r1", true}}, DeliveryAccepted, "r1"},
		{"arrived stays arrived", []step{{DeliveryAccepted, "r1", true}, {DeliveryFailed, "", false}, {DeliveryAttempting, "", false}, {DeliveryUnknown, "", false}}, DeliveryAccepted, "r1"},
		{"a receipt later", []step{{DeliveryAccepted, "", true}, {DeliveryAccepted, "r2", true}, {DeliveryAccepted, "", true}}, DeliveryAccepted, "r2"},
		{"unknown is proved later", []step{{DeliveryDispatched, "", true}, {DeliveryUnknown, "", true}, {DeliveryAccepted, "r", true}}, DeliveryAccepted, "r"},
		{"failed is tried again", []step{{DeliveryAttempting, "", true}, {DeliveryFailed, "", true}, {DeliveryAttempting, "", true}}, DeliveryAttempting, ""},
		{"no such state", []step{{"", "", false}, {"lost", "", false}}, DeliveryNone, ""},
	}
	s := open(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			m := must(s.AddMessage(t.Context(), Message{Thread: newThread(t, s).ID, Kind: MessageUser, Text: "x"}))
			for _, st := range row.steps {
				if _, err := s.SetDelivery(t.Context(), m.ID, st.to, st.receipt); (err == nil) != st.ok {
					t.Fatalf("to %q: %v", st.to, err)
				}
			}
			if got := must(s.Message(t.Context(), m.ID)); got.Delivery != row.last || got.Receipt != row.want {
				t.Fatalf("%q %q", got.Delivery, got.Receipt)
			}
		})
	}
	reply := must(s.AddMessage(t.Context(), Message{Thread: newThread(t, s).ID, Kind: MessageReply}))
	_, err := s.SetDelivery(t.Context(), reply.ID, DeliveryAccepted, "")
	wantIs(t, err, ErrConflict)
}

func TestChats(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	if _, ok, err := s.CurrentChat(ctx, th.ID); ok || err != nil {
		t.Fatal(ok, err)
	}
	first := must(s.BindChat(ctx, Chat{Thread: th.ID, Site: "chatgpt"}))
	bound := first
	bound.Provider, bound.URL = "abc", "https://chat/abc"
	if got := must(s.BindChat(ctx, bound)); got != bound {
		t.Fatalf("%+v, want %+v", got, bound)
	}
	second := must(s.BindChat(ctx, Chat{Thread: th.ID, Site: "chatgpt"}))
	if got, ok, err := s.CurrentChat(ctx, th.ID); got != second || !ok || err != nil {
		t.Fatalf("%+v %v %v", got, ok, err)
	}
	if back := must(s.BindChat(ctx, bound)); !back.Current || back.Created != first.Created {
		t.Fatalf("%+v", back)
	}
	if n := must(one(ctx, s, value[int], "SELECT count(*) FROM chats WHERE thread = ?", th.ID)); n != 2 {
		t.Fatal("chats on record:", n)
	}
	wantIs(t, s.UnbindChat(ctx, th.ID), nil)
	if _, ok, _ := s.CurrentChat(ctx, th.ID); ok {
		t.Fatal("still bound")
	}
	_, err := s.BindChat(ctx, Chat{Thread: "t_unknown"})
	wantIs(t, err, ErrNotFound)
}

// TestReadWhileFinishing: a reader sees the reply as it was or as it is, never
// without its text.
func TestReadWhileFinishing(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	for range 50 {
		m := must(s.AddMessage(t.Context(), Message{Thread: th.ID, Kind: MessageReply}))
		wantIs(t, s.AppendReply(t.Context(), m.ID, "text"), nil)
		done := make(chan error, 1)
		go func() { _, err := s.FinishReply(context.Background(), m.ID, MessageEnd{}); done <- err }()
		for final := false; !final; {
			got := must(s.Message(t.Context(), m.ID))
			if got.Text != "text" {
				t.Fatalf("read %q, final %v", got.Text, got.Final)
			}
			final = got.Final
		}
		wantIs(t, <-done, nil)
	}
}
