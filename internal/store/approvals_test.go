package store

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// asked makes an action with a pending approval.
func asked(t testing.TB, s *Store, th Thread) Approval {
	t.Helper()
	a := must(s.AddAction(t.Context(), Action{Thread: th.ID, Folder: th.Folder, Tool: "run", Title: "make", Input: []byte(`{"command":"make"}`)}))
	return must(s.AddApproval(t.Context(), Approval{Thread: th.ID, Action: a.ID, Folder: th.Folder, Tool: "run", Title: "make", Command: "make", Reasons: []string{"writes"}}))
}

// TestApprovalFirstWins: however many answer, and however, one wins, all
// others are told, and the record is the winner's.
func TestApprovalFirstWins(t *testing.T) {
	s := open(t)
	th := newThread(t, s)
	rapid.Check(t, func(rt *rapid.T) {
		p := asked(t, s, th)
		type try struct {
			how string
			got Approval
			err error
		}
		tries := make([]try, rapid.IntRange(1, 8).Draw(rt, "answers"))
		for i := range tries {
			tries[i].how = rapid.SampledFrom([]string{ApprovalAllowed, ApprovalDenied, ApprovalGone}).Draw(rt, "how")
		}
		var wg sync.WaitGroup
		for i := range tries {
			wg.Go(func() {
				if tries[i].how == ApprovalGone {
					tries[i].got, tries[i].err = s.GoneApproval(t.Context(), p.ID)
					return
				}
				ans := ApprovalAnswer{State: tries[i].how, By: fmt.Sprint(i), Always: &Rule{Folder: p.Folder, Kind: "exact", Pattern: fmt.Sprintf("%s %d", p.ID, i)}}
				tries[i].got, tries[i].err = s.AnswerApproval(t.Context(), p.ID, ans)
			})
		}
		wg.Wait()
		now := must(s.Approval(t.Context(), p.ID))
		won := 0
		for _, try := range tries {
			if try.err != nil {
				wantIs(t, try.err, ErrConflict)
				continue
			}
			won++
			if diff := cmp.Diff(try.got, now); diff != "" || now.State != try.how {
				rt.Fatalf("the winner is not on record: %s", diff)
			}
		}
		if won != 1 {
			rt.Fatalf("%d of %d answers won", won, len(tries))
		}
		added := 0
		for _, r := range must(s.Rules(t.Context(), p.Folder)) {
			if len(r.Pattern) > len(p.ID) && r.Pattern[:len(p.ID)] == p.ID {
				added++
				if now.Always != r.ID {
					rt.Fatalf("the rule of a loser was added: %+v", r)
				}
			}
		}
		if want := map[bool]int{true: 0, false: 1}[now.State == ApprovalGone]; added != want {
			rt.Fatalf("%d rules were added", added)
		}
	})
}

func TestApprovalMovesItsAction(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	th := newThread(t, s)
	p := asked(t, s, th)
	if a := must(s.Action(ctx, p.Action)); a.State != ActionWaiting {
		t.Fatal(a.State)
	}
	_, err := s.AddApproval(ctx, Approval{Thread: th.ID, Action: p.Action})
	wantIs(t, err, ErrConflict)
	_, err = s.AddApproval(ctx, Approval{Thread: th.ID, Action: "a_unknown"})
	wantIs(t, err, ErrNotFound)
	if all := must(s.Approvals(ctx, "")); len(all) != 1 {
		t.Fatal("a refused question was kept:", all)
	}
	var kinds []EventKind
	for _, e := range must(s.Events(ctx, th.ID, th.LastSeq, 0)) {
		kinds = append(kinds, e.Kind)
	}
	if want := []EventKind{EventAction, EventAction, EventApproval}; !slices.Equal(kinds, want) {
		t.Fatalf("%v, want %v", kinds, want)
	}
}

func TestApprovalRefusals(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	p := asked(t, s, newThread(t, s))
	for _, state := range []string{"", ApprovalPending, ApprovalGone, "perhaps"} {
		if _, err := s.AnswerApproval(ctx, p.ID, ApprovalAnswer{State: state, Always: &Rule{Folder: p.Folder, Kind: "exact", Pattern: "x"}}); err == nil {
			t.Errorf("answered %q", state)
		}
	}
	if rules := must(s.Rules(ctx, p.Folder)); len(rules) != 0 {
		t.Fatal("a refused answer added a rule:", rules)
	}
	_, err := s.AnswerApproval(ctx, "p_unknown", ApprovalAnswer{State: ApprovalDenied})
	wantIs(t, err, ErrNotFound)
	if diff := cmp.Diff([]Approval{p}, must(s.Approvals(ctx, ApprovalPending))); diff != "" {
		t.Fatal(diff)
	}
}

func TestRules(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	a := must(s.AddRule(ctx, Rule{Folder: "f_1", Kind: "exact", Pattern: "make"}))
	if again := must(s.AddRule(ctx, Rule{Folder: "f_1", Kind: "exact", Pattern: "make"})); again != a {
		t.Fatalf("the same rule twice: %+v", again)
	}
	b := must(s.AddRule(ctx, Rule{Folder: "f_1", Kind: "prefix", Pattern: "make"}))
	must(s.AddRule(ctx, Rule{Folder: "f_2", Kind: "exact", Pattern: "make"}))
	c := must(s.AddRule(ctx, Rule{Folder: "f_1", Kind: "exact", Pattern: "make", Dir: "sub"}))
	if c.ID == a.ID || c.Dir != "sub" {
		t.Fatalf("another directory is the same rule: %+v", c)
	}
	if diff := cmp.Diff([]Rule{a, b, c}, must(s.Rules(ctx, "f_1"))); diff != "" {
		t.Fatal(diff)
	}
	wantIs(t, s.RemoveRule(ctx, a.ID), nil)
	wantIs(t, s.RemoveRule(ctx, a.ID), ErrNotFound)
	if diff := cmp.Diff([]Rule{b, c}, must(s.Rules(ctx, "f_1"))); diff != "" {
		t.Fatal(diff)
	}
}
