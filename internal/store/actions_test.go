package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestActionStates: a move is made when the rules allow it, and refused
// without a trace otherwise.
func TestActionStates(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	states := []ActionState{ActionIntended, ActionWaiting, ActionRunning, ActionDone}
	rapid.Check(t, func(rt *rapid.T) {
		want := must(s.AddAction(t.Context(), Action{Thread: th.ID, Tool: "read", Input: json.RawMessage(`{}`)}))
		for range rapid.IntRange(1, 6).Draw(rt, "moves") {
			move := ActionMove{To: rapid.SampledFrom(states).Draw(rt, "to"), Decision: rapid.SampledFrom([]string{"", "free", "allowed"}).Draw(rt, "decision")}
			if rapid.Bool().Draw(rt, "with from") {
				move.From = append([]ActionState{}, rapid.SliceOf(rapid.SampledFrom(states)).Draw(rt, "from")...)
			}
			if move.To == ActionDone {
				move.Result, move.Outcome = json.RawMessage(`{"status":"ok"}`), "ok"
			}
			ok := want.State != ActionDone && (move.From == nil || slices.Contains(move.From, want.State))
			got, err := s.MoveAction(t.Context(), want.ID, move)
			switch {
			case move.To == ActionIntended:
				if err == nil {
					rt.Fatal("moved back to intended")
				}
			case !ok:
				if !errors.Is(err, ErrConflict) {
					rt.Fatalf("error = %v, want a conflict", err)
				}
			default:
				if err != nil {
					rt.Fatal(err)
				}
				want.State = move.To
				if move.Decision != "" {
					want.Decision = move.Decision
				}
				if move.To == ActionDone {
					want.Result, want.Outcome, want.Ended = move.Result, "ok", got.Ended
				}
			}
			if diff := cmp.Diff(want, must(s.Action(t.Context(), want.ID))); diff != "" || (want.Ended == nil) != (want.State != ActionDone) {
				rt.Fatal(diff)
			}
		}
		open := slices.ContainsFunc(must(s.OpenActions(t.Context())), func(a Action) bool { return a.ID == want.ID })
		if open == (want.State == ActionDone) {
			rt.Fatalf("%s and open: %v", want.State, open)
		}
		if want.State != ActionDone {
			must(s.MoveAction(t.Context(), want.ID, ActionMove{To: ActionDone}))
		}
	})
}

// TestLargeValues: what is too large for a row is whole for who asks and a
// stub in the events.
func TestLargeValues(t *testing.T) {
	for _, size := range []int{maxInline - 20, maxInline + 1, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := open(t)
			ctx := t.Context()
			th := newThread(t, s)
			u := must(s.EnqueueTurn(ctx, th.ID, "task"))
			value := func(name string) json.RawMessage {
				return json.RawMessage(fmt.Sprintf(`{"%s":%q,"exit":3}`, name, strings.Repeat("é", size/2)))
			}
			in, out := value("in"), value("out")
			large := len(in) > maxInline
			a := must(s.AddAction(ctx, Action{Thread: th.ID, Turn: u.ID, Tool: "write", Input: in}))
			if string(a.Input) != string(in) {
				t.Fatal("returned a cut input")
			}
			done := must(s.MoveAction(ctx, a.ID, ActionMove{To: ActionDone, Result: out}))
			for name, got := range map[string]Action{
				"MoveAction": done, "Action": must(s.Action(ctx, a.ID)), "TurnActions": must(s.TurnActions(ctx, u.ID))[0],
			} {
				if string(got.Input) != string(in) || string(got.Result) != string(out) {
					t.Errorf("%s: %d and %d bytes", name, len(got.Input), len(got.Result))
				}
			}
			events := must(s.Events(ctx, th.ID, 0, 0))
			var body Action
			if err := json.Unmarshal(events[len(events)-1].Body, &body); err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]json.RawMessage{"input": body.Input, "result": body.Result} {
				var st stub
				_ = json.Unmarshal(got, &st)
				if (st.Asset != "") != large || large && (st.Bytes != len(in)+map[string]int{"result": 1}[name] || !strings.HasPrefix(st.Head, "{") || len(st.Head) > headBytes) {
					t.Errorf("%s in the event: %.200s", name, got)
				}
				if large && (string(st.Small["exit"]) != "3" || len(st.Small) != 1) {
					t.Errorf("%s in the event repeats %s", name, st.Small)
				}
			}
		})
	}
}

// TestStubIsNotTrusted: an input that looks like our stub is an input.
func TestStubIsNotTrusted(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	hash := must2(t)(s.PutAsset(ctx, strings.NewReader(`"somebody else's"`)))
	in := fmt.Sprintf(`{"asset":"%s","bytes":17,"head":""}`, hash)
	a := must(s.AddAction(ctx, Action{Tool: "read", Input: json.RawMessage(in)}))
	if got := must(s.Action(ctx, a.ID)); string(got.Input) != in {
		t.Fatalf("%s", got.Input)
	}
}

func TestActionWithLostAsset(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	big := json.RawMessage(fmt.Sprintf("%q", strings.Repeat("x", maxInline)))
	a := must(s.AddAction(ctx, Action{Tool: "write", Input: big}))
	if err := os.RemoveAll(s.assets); err != nil {
		t.Fatal(err)
	}
	var st stub
	if err := json.Unmarshal(must(s.Action(ctx, a.ID)).Input, &st); err != nil || st.Bytes != len(big) {
		t.Fatal(st, err)
	}
	if len(must(s.OpenActions(ctx))) != 1 {
		t.Fatal("lost with its asset")
	}
}

func TestActionRefusals(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	for _, in := range []string{"{", "nope", `{"a":1}{}`} {
		if _, err := s.AddAction(ctx, Action{Tool: "read", Input: json.RawMessage(in)}); err == nil {
			t.Errorf("%s was taken", in)
		}
	}
	a := must(s.AddAction(ctx, Action{ID: "call-1", Tool: "read"}))
	if string(a.Input) != "null" || a.State != ActionIntended {
		t.Fatalf("%+v", a)
	}
	_, err := s.AddAction(ctx, Action{ID: "call-1", Tool: "read"})
	wantIs(t, err, ErrConflict)
	_, err = s.AddAction(ctx, Action{Thread: "t_unknown", Tool: "read"})
	wantIs(t, err, ErrNotFound)
	_, err = s.MoveAction(ctx, "a_unknown", ActionMove{To: ActionDone})
	wantIs(t, err, ErrNotFound)
	if _, err = s.MoveAction(ctx, a.ID, ActionMove{To: ActionDone, Result: json.RawMessage("{")}); err == nil {
		t.Error("a result that is not JSON was taken")
	}
	if got := must(s.Action(ctx, a.ID)); got.State != ActionIntended {
		t.Fatal(got.State)
	}
}

func TestTurnActionsInOrder(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	u := must(s.EnqueueTurn(ctx, th.ID, "task"))
	for _, at := range [][2]int{{2, 1}, {1, 2}, {1, 1}, {2, 10}, {2, 2}} {
		must(s.AddAction(ctx, Action{Thread: th.ID, Turn: u.ID, Round: at[0], N: at[1], Tool: "read"}))
	}
	var got [][2]int
	for _, a := range must(s.TurnActions(ctx, u.ID)) {
		got = append(got, [2]int{a.Round, a.N})
	}
	if want := [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 10}}; !slices.Equal(got, want) {
		t.Fatal(got)
	}
}
