package practice

import (
	"crypto/rand"
	"fmt"
	"time"
	"unicode/utf16"
)

// message is one message of a conversation as the wire has it.
type message struct {
	ID         string         `json:"id"`
	Author     author         `json:"author"`
	CreateTime *float64       `json:"create_time"`
	UpdateTime *float64       `json:"update_time"`
	Content    map[string]any `json:"content"`
	Status     string         `json:"status"`
	EndTurn    *bool          `json:"end_turn"`
	Weight     float64        `json:"weight"`
	Metadata   map[string]any `json:"metadata"`
	Recipient  string         `json:"recipient"`
	Channel    *string        `json:"channel"`
}

type author struct {
	Role     string         `json:"role"`
	Name     *string        `json:"name"`
	Metadata map[string]any `json:"metadata"`
}

// newMessage has what all messages have in common; the caller fills in the rest.
func newMessage(id, role string, content map[string]any) message {
	now := float64(time.Now().UnixMicro()) / 1e6
	return message{
		ID: id, Author: author{Role: role, Metadata: map[string]any{}}, CreateTime: &now, Content: content,
		Status: "finished_successfully", Weight: 1, Metadata: map[string]any{}, Recipient: "all",
	}
}

func textContent(parts ...string) map[string]any {
	return map[string]any{"content_type": "text", "parts": parts}
}

// newUUID returns a random UUID of version 4.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// units counts text as a page does.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}
