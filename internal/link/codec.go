package link

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// errUnknownType says that a message is well formed and of no type that we know:
// a newer peer. It is skipped and counted.
var errUnknownType = errors.New("unknown message type")

// ToDaemon holds a zero value of every message that the extension sends,
// ToWorker of every message that the daemon sends. The generator of the
// TypeScript side and the decoder read them.
var (
	ToDaemon = []any{Hello{}, Proof{}, Pong{}, Response{}, SubmitProgress{}, StreamUpdate{}, TurnStatus{}, TabStatus{}, SiteNotice{}, Recovered{}}
	ToWorker = []any{Challenge{}, Welcome{}, Pairing{}, Refused{}, Ping{}, OpenTab{}, EnsureProject{}, SendMessage{}, Proceed{}, ResumeFrames{}, AckFrames{},
		StopTurn{}, EndTurn{}, LookPage{}, RecoverTurn{}, CloseTab{}}
	incoming = typesByName(ToDaemon)
	outgoing = typesByName(ToWorker)
)

func typesByName(messages []any) map[string]reflect.Type {
	m := map[string]reflect.Type{}
	for _, v := range messages {
		t := reflect.TypeOf(v)
		m[typeName(t)] = t
	}
	return m
}

// typeName returns the value of the field "type" of a message type.
func typeName(t reflect.Type) string {
	f, ok := t.FieldByName("Type")
	if !ok {
		panic(fmt.Sprintf("link: %s is no message", t))
	}
	return f.Tag.Get("enum")
}

// decode reads one message of the extension. It returns a pointer to one of the
// structs of ToDaemon, errUnknownType, or an error that says what is wrong with it.
func decode(data []byte) (any, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	name, err := peekType(data)
	if err != nil {
		return nil, err
	}
	t, ok := incoming[name]
	if !ok {
		if !json.Valid(data) {
			return nil, errors.New("not JSON")
		}
		return nil, fmt.Errorf("%w %.40q", errUnknownType, name)
	}
	v := reflect.New(t).Interface()
	if err := json.Unmarshal(data, v); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := check(v); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// peekType reads the field "type", which comes first, without reading the rest.
func peekType(data []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return "", errors.New("not a JSON object")
	}
	if tok, err := d.Token(); err != nil || tok != "type" {
		return "", errors.New(`the first field is not "type"`)
	}
	tok, err := d.Token()
	if name, ok := tok.(string); ok && err == nil {
		return name, nil
	}
	return "", errors.New(`"type" is not a string`)
}

// outbound is a message made ready to be written.
type outbound struct {
	kind string // value of "type"
	id   string // of a command, "" otherwise
	turn string // "" when it names none
	from string // thread, "" when it names none
	data []byte
}

// encode makes msg (a struct of ToWorker, or a pointer to one) ready. It fills in
// the type, and a missing id of a command with newID.
func encode(msg any, newID func() string) (outbound, error) {
	v := reflect.Indirect(reflect.ValueOf(msg))
	if v.Kind() != reflect.Struct {
		return outbound{}, fmt.Errorf("%T is no message to the extension", msg)
	}
	c := reflect.New(v.Type()).Elem() // the caller's value stays as it is
	c.Set(v)
	f := c.FieldByName("Type")
	if !f.IsValid() || outgoing[typeName(c.Type())] != c.Type() {
		return outbound{}, fmt.Errorf("%T is no message to the extension", msg)
	}
	out := outbound{kind: typeName(c.Type()), turn: text(c, "Turn"), from: text(c, "Thread")}
	f.SetString(out.kind)
	if id := c.FieldByName("ID"); id.IsValid() {
		if id.String() == "" {
			id.SetString(newID())
		}
		out.id = id.String()
	}
	data, err := json.Marshal(c.Interface())
	if err != nil {
		return outbound{}, fmt.Errorf("encode %s: %w", out.kind, err)
	}
	if len(data) > MaxMessage {
		return outbound{}, fmt.Errorf("encode %s: %d bytes, at most %d cross the link", out.kind, len(data), MaxMessage)
	}
	out.data = data
	return out, nil
}

func text(v reflect.Value, field string) string {
	if f := v.FieldByName(field); f.IsValid() {
		return f.String()
	}
	return ""
}
