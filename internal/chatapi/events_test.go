package chatapi

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func readEvents(r io.Reader) (all []string, err error) {
	e := newEvents(bufio.NewReader(r))
	for {
		data, err := e.next()
		if err != nil {
			return all, err
		}
		all = append(all, data)
	}
}

func TestEvents(t *testing.T) {
	for in, want := range map[string][]string{
		"":                               nil,
		"\n\n\n":                         nil,
		"data: a\n\ndata: b\n\n":         {"a", "b"},
		"data: a\r\n\r\ndata: b\r\n\r\n": {"a", "b"},
		"data: a\r\rdata: b\r\r":         {"a", "b"},
		"data:a\ndata: b\ndata:  c\n\n":  {"a\nb\n c"},
		": comment\nevent: x\nid: 1\ndata: a\n\n": {"a"},
		"event: x\n\ndata: a":                     {"a"},
		"data\n\n":                                {""},
		"data: a\n\ndata: tail\n":                 {"a", "tail"},
		"database: a\n\n data: b\n\n":             nil,
		"data: \r\n\ndata: a\n\n":                 {"", "a"},
	} {
		got, err := readEvents(strings.NewReader(in))
		if !errors.Is(err, io.EOF) || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestEventTooLong(t *testing.T) {
	for name, in := range map[string]string{
		"one line":   "data: " + strings.Repeat("x", maxEvent+1),
		"many lines": strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 5),
		"no field":   strings.Repeat("x", maxEvent+1),
	} {
		if _, err := readEvents(strings.NewReader(in)); !errors.Is(err, errLongEvent) {
			t.Errorf("%s: %v, want errLongEvent", name, err)
		}
	}
}

// FuzzEvents: what is read does not depend on how the bytes arrive, and an event never
// has more than the stream.
func FuzzEvents(f *testing.F) {
	f.Add("data: {\"a\":1}\n\ndata: [DONE]\n\n")
	f.Add("data: a\r\rdata: b\r\n\r\n: c\nevent: e\ndata\ndata:\n\n")
	f.Add("\ufeffdata: x\n\n\r\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		at, err := readEvents(strings.NewReader(in))
		by, err2 := readEvents(iotest.OneByteReader(strings.NewReader(in)))
		if !slices.Equal(at, by) || !errors.Is(err, io.EOF) || !errors.Is(err2, io.EOF) {
			t.Fatalf("%q and %q, %v and %v", at, by, err, err2)
		}
		total := 0
		for _, e := range at {
			total += len(e)
		}
		if total > len(in) {
			t.Fatalf("%d bytes of data from %d", total, len(in))
		}
	})
}
