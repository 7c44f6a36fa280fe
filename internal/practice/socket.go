package practice

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// topicConversations is where the ends of all turns are told.
const topicConversations = "conversations"

// sockets holds the open WebSockets of pages.
type sockets struct {
	mu   sync.Mutex
	open map[*socket]bool
}

func (s *sockets) init() { s.open = map[*socket]bool{} }

// socket is the WebSocket of one page.
type socket struct {
	site *Site
	conn *websocket.Conn
	ctx  context.Context
	stop context.CancelCauseFunc

	mu      sync.Mutex // orders what is sent, and guards what follows
	general bool       // subscribed to topicConversations
	turns   sync.WaitGroup
}

func (s *Site) socketURL(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{"websocket_url": "wss://" + SocketHost + "/p6/ws/user/" + userID + "?verify=" + s.access.socket})
}

func (s *Site) serveSocket(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("user") != userID || r.URL.Query().Get("verify") != s.access.socket {
		fail(w, http.StatusForbidden, "forbidden", "Forbidden")
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: []string{Host}})
	if err != nil {
		return
	}
	ctx, stop := context.WithCancelCause(s.ctx)
	defer stop(nil)
	k := &socket{site: s, conn: conn, ctx: ctx, stop: stop}
	s.sockets.mu.Lock()
	s.sockets.open[k] = true
	s.sockets.mu.Unlock()
	k.listen()
	s.sockets.mu.Lock()
	delete(s.sockets.open, k)
	s.sockets.mu.Unlock()
	stop(nil)
	k.turns.Wait()
	conn.CloseNow()
}

// command is what a page asks for.
type command struct {
	ID      json.RawMessage `json:"id"`
	Command struct {
		Type    string          `json:"type"`
		TopicID string          `json:"topic_id"`
		Offset  json.RawMessage `json:"offset"`
	} `json:"command"`
}

// listen obeys the page until its connection ends.
func (k *socket) listen() {
	for {
		_, raw, err := k.conn.Read(k.ctx)
		if err != nil {
			return
		}
		var commands []command
		if err := json.Unmarshal(raw, &commands); err != nil {
			k.conn.Close(websocket.StatusUnsupportedData, "not a list of commands")
			return
		}
		for _, c := range commands {
			k.obey(c)
		}
	}
}

func (k *socket) obey(c command) {
	if c.Command.Type != "subscribe" {
		k.send(answer(c, true, nil))
		return
	}
	if c.Command.TopicID == topicConversations {
		k.mu.Lock()
		k.general = true
		k.mu.Unlock()
		k.send(answer(c, true, nil))
		return
	}
	t, ok := k.site.chats.byTopic(c.Command.TopicID)
	offset, err := readOffset(c.Command.Offset)
	if !ok || err != nil {
		k.send(answer(c, false, nil))
		return
	}
	k.site.journal.add(t.entry(KindSubscribe, ""))
	k.turns.Go(func() { k.relay(c, t, offset) })
}

func answer(c command, ok bool, catchups []any) map[string]any {
	if catchups == nil {
		catchups = []any{}
	}
	return map[string]any{"id": c.ID, "type": "reply", "reply": map[string]any{"ok": ok, "catchups": catchups}}
}

// relay sends a turn over the socket: what has been said before as catch-ups of the answer, the rest as messages.
func (k *socket) relay(c command, t *turn, n int) {
	answered := false
	for {
		items, err := t.read(k.ctx, n)
		if errors.Is(err, errCut) {
			k.stop(errCut)
			k.conn.CloseNow()
			return
		}
		if err != nil {
			return
		}
		var messages []any
		for i, item := range items {
			messages = append(messages, topicMessage(t, n+i+1, map[string]any{
				"type": "stream-item", "conversation_id": t.conv.id, "turn_id": t.id, "encoded_item": item,
				"stream_item_id": "s" + strconv.Itoa(n+i+1), "parent_stream_item_id": "s" + strconv.Itoa(n+i),
			}))
		}
		if !answered {
			k.send(answer(c, true, messages))
			answered = true
		} else if len(messages) > 0 {
			k.send(messages...)
		}
		n += len(items)
		if items == nil {
			k.send(topicMessage(t, n+1, map[string]any{"type": "done", "conversation_id": t.conv.id, "turn_id": t.id}))
			return
		}
	}
}

func topicMessage(t *turn, offset int, payload map[string]any) map[string]any {
	return map[string]any{
		"type": "message", "topic_id": t.topic(), "offset": strconv.Itoa(offset),
		"payload": map[string]any{"type": "conversation-turn-stream", "payload": payload},
	}
}

// send writes messages as one frame. A page that does not read loses its connection.
func (k *socket) send(messages ...any) {
	b, err := json.Marshal(messages)
	if err != nil {
		panic(err) // plain maps
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(k.ctx, 10*time.Second)
	defer cancel()
	if err := k.conn.Write(ctx, websocket.MessageText, b); err != nil {
		k.stop(err)
	}
}

// announce tells every page that a turn has ended.
func (s *sockets) announce(t *turn) {
	s.mu.Lock()
	var listeners []*socket
	for k := range s.open {
		listeners = append(listeners, k)
	}
	s.mu.Unlock()
	for _, k := range listeners {
		k.mu.Lock()
		general := k.general
		k.mu.Unlock()
		if general {
			k.send(map[string]any{"type": "message", "topic_id": topicConversations, "payload": map[string]any{
				"type": "conversation-turn-complete", "payload": map[string]any{"conversation_id": t.conv.id}, "metadata": nil,
			}})
		}
	}
}

// byTopic finds a turn by its topic.
func (c *chats) byTopic(topic string) (*turn, bool) {
	c.mu.Lock()
	convs := append([]*conversation(nil), c.order...)
	c.mu.Unlock()
	for _, conv := range convs {
		if t := conv.newest(); t != nil && t.topic() == topic {
			return t, true
		}
	}
	return nil, false
}
