package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrUnknownSetting is wrapped when a key is not declared.
var ErrUnknownSetting = errors.New("there is no such setting")

// Type is the type of a setting's value.
type Type string

const (
	TypeText     Type = "text"
	TypeNumber   Type = "number"
	TypeBool     Type = "bool"
	TypeDuration Type = "duration" // Go syntax: 90s, 5m
	TypeChoice   Type = "choice"
)

// Declaration is a setting as declared: the CLI, the UI's form and the reference
// page are made from it.
type Declaration struct {
	Key     string   `json:"key"`
	Section string   `json:"section"`
	Type    Type     `json:"type"`
	Default string   `json:"default"`
	Min     string   `json:"min,omitempty"` // number and duration
	Max     string   `json:"max,omitempty"`
	Options []string `json:"options,omitempty"` // choice
	Doc     string   `json:"doc"`
}

// Keys of the settings.
const (
	KeyModel           = "model.default"
	KeyAPIURL          = "model.api.url"
	KeyAPIModel        = "model.api.model"
	KeyAPIIdle         = "model.api.idle"
	KeyMessageLimit    = "chat.message-limit"
	KeyResultLimit     = "chat.result-limit"
	KeyWatchdog        = "chat.watchdog"
	KeyConsentChatGPT  = "consent.chatgpt"
	KeyLevel           = "folder.level"
	KeyShell           = "command.shell"
	KeyTimeout         = "command.timeout"
	KeyMaxTimeout      = "command.max-timeout"
	KeyRounds          = "turn.rounds"
	KeySendKey         = "ui.send-key"
	KeyRetainBin       = "store.bin-days"
	KeyRetainThreads   = "store.thread-days"
	KeyRetainOutputs   = "store.output-days"
	KeyRetainMegabytes = "store.megabytes"
)

// declarations is the one table of settings, in the order in which they are shown.
var declarations = []Declaration{
	{KeyModel, "Model", TypeChoice, "chat", "", "", []string{"chat", "api"}, "The model that new threads use: chat drives a tab of the chat site, api an OpenAI-compatible server."},
	{KeyAPIURL, "Model", TypeText, "", "", "", nil, "Base URL of an OpenAI-compatible server, such as http://localhost:11434/v1. Its key is the secret model.api.key."},
	{KeyAPIModel, "Model", TypeText, "", "", "", nil, "The model's name as that server knows it."},
	{KeyAPIIdle, "Model", TypeDuration, "2m", "5s", "30m", nil, "How long the server may be silent before a request counts as dead."},
	{KeyMessageLimit, "Chat", TypeNumber, "24000", "2000", "500000", nil, "Most characters in one message of results, as the page counts them."},
	{KeyResultLimit, "Chat", TypeNumber, "6000", "500", "200000", nil, "Most characters of one result in that message."},
	{KeyWatchdog, "Chat", TypeDuration, "5m", "10s", "2h", nil, "A turn whose model gave no sign of life for this long is ended."},
	{KeyConsentChatGPT, "Chat", TypeBool, "false", "", "", nil, "You have read that driving chatgpt.com from a program may break its terms and put the account at risk, and want it all the same."},
	{KeyLevel, "Permissions", TypeChoice, "auto-review", "", "", []string{"manual", "auto-review", "full"}, "The level that newly approved folders get: manual asks before every command and write, auto-review when an action is dangerous, full never."},
	{KeyShell, "Commands", TypeText, "", "", "", nil, "The shell that runs commands; empty for your own, or bash, or sh. Counts from the next start on."},
	{KeyTimeout, "Commands", TypeDuration, "2m", "1s", "24h", nil, "How long a command may run when it names no limit. Counts from the next start on."},
	{KeyMaxTimeout, "Commands", TypeDuration, "30m", "1s", "24h", nil, "The longest limit that a command may name. Counts from the next start on."},
	{KeyRounds, "Turns", TypeNumber, "60", "1", "1000", nil, "Most replies of the model in one turn; then Plexus stops and says so."},
	{KeySendKey, "Appearance", TypeChoice, "ctrl-enter", "", "", []string{"ctrl-enter", "enter"}, "The key that sends a message in the web UI."},
	{KeyRetainBin, "Storage", TypeNumber, "30", "1", "3650", nil, "Days that a deleted thread can be taken back."},
	{KeyRetainThreads, "Storage", TypeNumber, "0", "0", "36500", nil, "Days after which a thread in which nothing happened is removed, unless it is pinned; 0 keeps all."},
	{KeyRetainOutputs, "Storage", TypeNumber, "30", "1", "3650", nil, "Days that the full output of a command is kept; its beginning and end stay with the thread."},
	{KeyRetainMegabytes, "Storage", TypeNumber, "0", "0", "1000000", nil, "Megabytes that the history may take before the oldest threads are removed; 0 for no limit."},
}

// Declarations returns all settings in display order. The caller must not change the options.
func Declarations() []Declaration { return slices.Clone(declarations) }

// Backing is where values are kept; *store.Store is one.
type Backing interface {
	Setting(ctx context.Context, key string) (string, bool, error)
	SetSetting(ctx context.Context, key, value string) error
	DeleteSetting(ctx context.Context, key string) error
}

// Settings are the values in force. Safe for concurrent use.
type Settings struct{ backing Backing }

// NewSettings returns the settings kept in b.
func NewSettings(b Backing) *Settings { return &Settings{backing: b} }

// Value is a setting with its value in force.
type Value struct {
	Declaration
	Value string `json:"value"`
	Set   bool   `json:"set"` // by the user; otherwise Value is the default
}

// All returns every setting in display order.
func (s *Settings) All(ctx context.Context) ([]Value, error) {
	values := make([]Value, 0, len(declarations))
	for _, d := range declarations {
		v, err := s.Get(ctx, d.Key)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Get returns one setting. A stored value that its declaration no longer
// accepts counts as not set.
func (s *Settings) Get(ctx context.Context, key string) (Value, error) {
	d, err := declaration(key)
	if err != nil {
		return Value{}, err
	}
	raw, ok, err := s.backing.Setting(ctx, key)
	if err != nil {
		return Value{}, fmt.Errorf("read setting %q: %w", key, err)
	}
	if ok && d.check(raw) == nil {
		return Value{Declaration: d, Value: raw, Set: true}, nil
	}
	return Value{Declaration: d, Value: d.Default}, nil
}

// Set checks value against the declaration and keeps it.
func (s *Settings) Set(ctx context.Context, key, value string) (Value, error) {
	d, err := declaration(key)
	if err != nil {
		return Value{}, err
	}
	value = strings.TrimSpace(value)
	if err := d.check(value); err != nil {
		return Value{}, err
	}
	if err := s.backing.SetSetting(ctx, key, value); err != nil {
		return Value{}, fmt.Errorf("keep setting %q: %w", key, err)
	}
	return Value{Declaration: d, Value: value, Set: true}, nil
}

// Reset goes back to the default.
func (s *Settings) Reset(ctx context.Context, key string) (Value, error) {
	d, err := declaration(key)
	if err != nil {
		return Value{}, err
	}
	if err := s.backing.DeleteSetting(ctx, key); err != nil {
		return Value{}, fmt.Errorf("reset setting %q: %w", key, err)
	}
	return Value{Declaration: d, Value: d.Default}, nil
}

// Text returns the value in force. key is one of the constants; the default
// answers when the backing does not.
func (s *Settings) Text(ctx context.Context, key string) string {
	v, err := s.Get(ctx, key)
	if err != nil {
		d, _ := declaration(key)
		return d.Default
	}
	return v.Value
}

// Int returns a number.
func (s *Settings) Int(ctx context.Context, key string) int {
	n, _ := strconv.Atoi(s.Text(ctx, key)) // checked when it was set
	return n
}

// Bool returns a switch.
func (s *Settings) Bool(ctx context.Context, key string) bool {
	return s.Text(ctx, key) == "true"
}

// Duration returns a span of time.
func (s *Settings) Duration(ctx context.Context, key string) time.Duration {
	d, _ := time.ParseDuration(s.Text(ctx, key)) // checked when it was set
	return d
}

func declaration(key string) (Declaration, error) {
	i := slices.IndexFunc(declarations, func(d Declaration) bool { return d.Key == key })
	if i < 0 {
		return Declaration{}, fmt.Errorf("setting %q: %w", key, ErrUnknownSetting)
	}
	return declarations[i], nil
}

// Invalid is a value that a setting does not take; its text says what it takes.
type Invalid struct{ Key, Value, Want string }

func (e *Invalid) Error() string {
	return fmt.Sprintf("%s cannot be %q: it takes %s", e.Key, e.Value, e.Want)
}

const maxText = 4096

func (d Declaration) check(value string) error {
	bad := func(want string) error { return &Invalid{Key: d.Key, Value: value, Want: want} }
	switch d.Type {
	case TypeBool:
		if value != "true" && value != "false" {
			return bad("true or false")
		}
	case TypeChoice:
		if !slices.Contains(d.Options, value) {
			return bad("one of " + strings.Join(d.Options, ", "))
		}
	case TypeNumber:
		n, err := strconv.Atoi(value)
		low, _ := strconv.Atoi(d.Min)
		high, _ := strconv.Atoi(d.Max)
		if err != nil || n < low || n > high {
			return bad("a whole number from " + d.Min + " to " + d.Max)
		}
	case TypeDuration:
		span, err := time.ParseDuration(value)
		low, _ := time.ParseDuration(d.Min)
		high, _ := time.ParseDuration(d.Max)
		if err != nil || span < low || span > high {
			return bad("a time from " + d.Min + " to " + d.Max + ", such as 90s or 5m")
		}
	case TypeText:
		if len(value) > maxText || strings.ContainsAny(value, "\x00\n\r") {
			return bad("one line of at most 4096 bytes")
		}
	}
	return nil
}
