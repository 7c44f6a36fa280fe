package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// checkInput compares input with the schema of a tool and names everything
// that is wrong with it at once, so that a caller needs one correction and not
// one for each mistake. A general validator stops at the first mistake and
// speaks of schema paths; the schemas here are one struct deep.
//
// null counts as an argument that was not given. Only large values that have
// bounds are decoded, so a file's content costs one scan.
func checkInput(name string, schema *jsonschema.Schema, input json.RawMessage) error {
	if !utf8.Valid(input) {
		return Errorf("bad-input", "%s: the arguments are not valid UTF-8.", name)
	}
	if trimmed := bytes.TrimSpace(input); len(trimmed) == 0 || trimmed[0] != '{' {
		return Errorf("bad-input", "%s: the arguments must be a JSON object.", name)
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(input, &args); err != nil {
		return Errorf("bad-input", "%s: the arguments are not valid JSON: %v.", name, err)
	}
	c := checker{known: schema.PropertyOrder}
	for _, key := range slices.Sorted(maps.Keys(args)) {
		property := schema.Properties[key]
		switch {
		case property == nil:
			c.unknown(key)
		case kindOfValue(args[key]) != "null":
			c.value(strconv.Quote(key), property, args[key])
		}
	}
	for _, key := range schema.Required {
		if value, given := args[key]; !given || kindOfValue(value) == "null" {
			c.add("%q is missing", key)
		}
	}
	if len(c.problems) == 0 {
		return nil
	}
	return Errorf("bad-input", "%s: %s.", name, strings.Join(c.problems, "; "))
}

// checker collects what is wrong.
type checker struct {
	known    []string
	problems []string
}

// maxProblems bounds what a caller who sends a thousand mistakes is told.
const maxProblems = 20

func (c *checker) add(format string, args ...any) {
	switch {
	case len(c.problems) < maxProblems:
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	case len(c.problems) == maxProblems:
		c.problems = append(c.problems, "and more")
	}
}

func (c *checker) unknown(key string) {
	c.add("%q is unknown (known: %s)", short(key), strings.Join(c.known, ", "))
}

// value checks one argument; at is how a message names it.
func (c *checker) value(at string, s *jsonschema.Schema, raw json.RawMessage) {
	want, got := kindOf(s), kindOfValue(raw)
	if want == "integer" && got == "number" {
		c.integer(at, s, raw)
		return
	}
	if want != got {
		c.add("%s must be %s, not %s", at, article(want), article(got))
		return
	}
	switch want {
	case "string":
		c.text(at, s, raw)
	case "number":
		c.number(at, s, raw)
	case "array":
		c.array(at, s, raw)
	case "object":
		c.add("%s is an object, which no tool takes", at)
	}
}

func (c *checker) text(at string, s *jsonschema.Schema, raw json.RawMessage) {
	if s.MinLength == nil && s.MaxLength == nil && len(s.Enum) == 0 {
		return
	}
	var v string
	if json.Unmarshal(raw, &v) != nil {
		c.add("%s is not a valid string", at)
		return
	}
	n := utf8.RuneCountInString(v)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(v)):
		c.add("%s must be one of %s, not %q", at, list(s.Enum), short(v))
	case s.MinLength != nil && n < *s.MinLength && *s.MinLength == 1:
		c.add("%s must not be empty", at)
	case s.MinLength != nil && n < *s.MinLength:
		c.add("%s must have at least %d characters, not %d", at, *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		c.add("%s must have at most %d characters, not %d", at, *s.MaxLength, n)
	}
}

func (c *checker) integer(at string, s *jsonschema.Schema, raw json.RawMessage) {
	if _, err := strconv.ParseInt(string(bytes.TrimSpace(raw)), 10, 64); err == nil {
		c.number(at, s, raw)
		return
	}
	c.add("%s must be a whole number, not %s", at, short(string(bytes.TrimSpace(raw))))
}

func (c *checker) number(at string, s *jsonschema.Schema, raw json.RawMessage) {
	text := string(bytes.TrimSpace(raw))
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		c.add("%s is out of range: %s", at, short(text))
	case s.Minimum != nil && v < *s.Minimum:
		c.add("%s must be at least %s, not %s", at, plain(*s.Minimum), short(text))
	case s.Maximum != nil && v > *s.Maximum:
		c.add("%s must be at most %s, not %s", at, plain(*s.Maximum), short(text))
	}
}

func (c *checker) array(at string, s *jsonschema.Schema, raw json.RawMessage) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		c.add("%s is not a valid array", at)
		return
	}
	switch {
	case s.MinItems != nil && len(items) < *s.MinItems:
		c.add("%s must have at least %d items, not %d", at, *s.MinItems, len(items))
	case s.MaxItems != nil && len(items) > *s.MaxItems:
		c.add("%s must have at most %d items, not %d", at, *s.MaxItems, len(items))
	case s.Items != nil:
		for i, item := range items {
			c.value(fmt.Sprintf("item %d of %s", i+1, at), s.Items, item)
		}
	}
}

// kindOfValue returns the JSON type of a value by its first byte; raw is valid JSON.
func kindOfValue(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "null"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

func article(kind string) string {
	switch kind {
	case "integer":
		return "a whole number"
	case "array", "object":
		return "an " + kind
	case "null":
		return "null"
	default:
		return "a " + kind
	}
}

func list(values []any) string {
	var words []string
	for _, v := range values {
		words = append(words, fmt.Sprint(v))
	}
	return strings.Join(words, ", ")
}

func plain(f float64) string {
	return new(big.Float).SetFloat64(f).Text('f', -1)
}

// short keeps a quoted value of the caller's from filling the message.
func short(s string) string {
	const limit = 60
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit]) + "…"
}
