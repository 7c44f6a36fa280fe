package link

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTags compiles the schema of every message and result, so that no tag can be wrong.
func TestTags(t *testing.T) {
	results := []any{TabResult{}, ProjectResult{}, SendResult{}, FramesResult{}, RecoverResult{}, PageFacts{}, PageMessage{}, TurnFact{}, ResponseError{}}
	for _, v := range append(append(append([]any{}, ToDaemon...), ToWorker...), results...) {
		for _, r := range rulesOf(reflect.TypeOf(v)) {
			if r.name == "" || r.min > r.max {
				t.Errorf("%T: field %d has the rule %+v", v, r.index, r)
			}
		}
	}
	for _, to := range []struct {
		side string
		list []any
	}{{"daemon", ToDaemon}, {"worker", ToWorker}} {
		for _, v := range to.list {
			f, _ := reflect.TypeOf(v).FieldByName("Type")
			if f.Tag.Get("to") != to.side || f.Tag.Get("enum") == "" || f.Index[0] != 0 {
				t.Errorf("%T: the first field is not a complete Type: %s", v, f.Tag)
			}
		}
	}
}

func TestEncode(t *testing.T) {
	id := func() string { return "made" }
	for _, row := range []struct {
		msg  any
		want string
	}{
		{OpenTab{Thread: "th", URL: "u"}, `{"type":"open_tab","id":"made","thread":"th","url":"u"}`},
		{&OpenTab{ID: "own"}, `{"type":"open_tab","id":"own","thread":"","url":""}`},
		{AckFrames{Turn: "t", N: 4}, `{"type":"ack_frames","turn":"t","n":4}`},
		{Welcome{Type: "wrong", Version: "1"}, `{"type":"welcome","version":"1"}`},
	} {
		out, err := encode(row.msg, id)
		if err != nil || string(out.data) != row.want {
			t.Errorf("encode %+v: %s, %v; want %s", row.msg, out.data, err, row.want)
		}
	}
	cmd := OpenTab{}
	if _, err := encode(&cmd, id); err != nil || cmd.ID != "" || cmd.Type != "" {
		t.Errorf("encode changed the caller's value: %+v, %v", cmd, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range ToDaemon {
		data, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{
		`{"type":"hello","protocol":1,"version":"1","browser":"12345678","label":"l","nonce":"0123456789abcdef","paired":true,"capabilities":["a"],"turns":[{"turn":"t","stage":"armed"}]}`,
		`{"type":"response","id":"a","result":{"b":[1,2,{"c":null}]}}`,
		`{"type":"stream_update","turn":"t","n":1,"stream":"s","event":"open","source":"fetch","url":"u","status":200}`,
		`{"type":"response","id":"a","error":null}`,
		`{"type":"new","x":1}`, `{"type":null}`, `[]`, ``, `{`, `{"type":"pong","n":9007199254740993}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		msg, err := decode(data)
		if err != nil {
			if msg != nil {
				t.Fatalf("a message comes with the error %v", err)
			}
			if errors.Is(err, errUnknownType) && !json.Valid(data) {
				t.Fatal("broken JSON passes for a newer message")
			}
			return
		}
		// What was accepted keeps its meaning when it is written again.
		again, err := json.Marshal(msg)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := decode(again)
		if err != nil {
			t.Fatalf("%s is refused after writing it as %s: %v", data, again, err)
		}
		if diff := cmp.Diff(msg, twice); diff != "" && !looseRaw(msg) {
			t.Fatal(diff)
		}
	})
}

// looseRaw reports whether msg holds raw JSON, whose white space writing may change.
func looseRaw(msg any) bool {
	r, ok := msg.(*Response)
	return ok && len(r.Result) > 0
}
