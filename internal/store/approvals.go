package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// States of an Approval.
const (
	ApprovalPending = "pending"
	ApprovalAllowed = "allowed"
	ApprovalDenied  = "denied"
	ApprovalGone    = "gone" // nobody needs the answer any more
)

// maxApprovals bounds a list of approvals.
const maxApprovals = 1000

const approvalColumns = `id, coalesce(thread, ''), coalesce(turn, ''), action, folder, tool, title, command, dir, diff, boundary,
	reasons, state, always, reason, answerer, created, answered`

func scanApproval(row scanner) (Approval, error) {
	var a Approval
	var reasons []byte
	var created int64
	var answered sql.NullInt64
	err := row.Scan(&a.ID, &a.Thread, &a.Turn, &a.Action, &a.Folder, &a.Tool, &a.Title, &a.Command, &a.Dir, &a.Diff, &a.Boundary,
		&reasons, &a.State, &a.Always, &a.Reason, &a.By, &created, &answered)
	if err != nil {
		return a, err
	}
	a.Created, a.Answered = fromStamp(created), fromNullStamp(answered)
	return a, json.Unmarshal(reasons, &a.Reasons)
}

// AddApproval asks a question about an action, which moves from intended to
// waiting with it, else ErrConflict. A turn that is acting waits with it. An empty ID or Created is filled in.
func (s *Store) AddApproval(ctx context.Context, a Approval) (Approval, error) {
	if a.ID == "" {
		a.ID = NewID("p")
	}
	if a.Reasons == nil {
		a.Reasons = []string{}
	}
	a.Title, a.Command, a.Dir, a.Diff = clean(a.Title), clean(a.Command), clean(a.Dir), clean(a.Diff)
	a.State, a.Always, a.Reason, a.By, a.Answered = ApprovalPending, "", "", "", nil
	reasons, err := encode(a.Reasons)
	if err != nil {
		return Approval{}, s.fail("add approval", a.ID, err)
	}
	created := a.Created
	err = s.write(ctx, "add approval", a.ID, func(t *tx) error {
		act, err := t.action(a.Action)
		if err != nil {
			return fmt.Errorf("action %s: %w", a.Action, err)
		}
		if act.State != ActionIntended {
			return fmt.Errorf("%w: action %s is %s", ErrConflict, act.ID, act.State)
		}
		act.State = ActionWaiting
		if err := t.saveAction(act); err != nil {
			return err
		}
		a.Created = orNow(created, t.now)
		_, err = t.exec(`INSERT INTO approvals (id, thread, turn, action, folder, tool, title, command, dir, diff, boundary, reasons, state, always, reason, answerer, created)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', '', ?)`,
			a.ID, orNull(a.Thread), orNull(a.Turn), a.Action, a.Folder, a.Tool, a.Title, a.Command, a.Dir, a.Diff, a.Boundary, reasons, a.State, stamp(a.Created))
		if err != nil {
			return err
		}
		if _, err = t.appendRow(a.Thread, a.Turn, EventApproval, a); err != nil {
			return err
		}
		return t.shiftTurn(a.Turn, TurnActing, TurnWaiting)
	})
	return a, err
}

// ApprovalAnswer is a person's word on an approval.
type ApprovalAnswer struct {
	State  string // ApprovalAllowed or ApprovalDenied
	Reason string // the person's, for a denial
	By     string // ui, cli
	Always *Rule  // added with the answer; its ID becomes Approval.Always. nil for none
}

// AnswerApproval answers a pending approval. Of several answers the first
// wins and the others get ErrConflict; read the approval again to see who it was. The
// action stays waiting: who waits for the answer moves it. A turn that waited is acting again.
func (s *Store) AnswerApproval(ctx context.Context, id string, ans ApprovalAnswer) (Approval, error) {
	return s.settleApproval(ctx, "answer approval", id, func(t *tx, a *Approval) error {
		if ans.State != ApprovalAllowed && ans.State != ApprovalDenied {
			return fmt.Errorf("an answer cannot be %q", ans.State)
		}
		a.State, a.Reason, a.By, a.Answered = ans.State, clean(ans.Reason), ans.By, t.at()
		if ans.Always == nil {
			return nil
		}
		rule, err := t.addRule(*ans.Always)
		a.Always = rule.ID
		return err
	})
}

// GoneApproval withdraws a pending approval: its turn was stopped, say.
// ErrConflict when it is answered or gone already.
func (s *Store) GoneApproval(ctx context.Context, id string) (Approval, error) {
	return s.settleApproval(ctx, "withdraw approval", id, func(t *tx, a *Approval) error {
		a.State, a.Answered = ApprovalGone, t.at()
		return nil
	})
}

func (s *Store) settleApproval(ctx context.Context, what, id string, settle func(*tx, *Approval) error) (Approval, error) {
	var out Approval
	err := s.write(ctx, what, id, func(t *tx) error {
		a, err := one(context.Background(), t, scanApproval, "SELECT "+approvalColumns+" FROM approvals WHERE id = ?", id)
		if err != nil {
			return err
		}
		if a.State != ApprovalPending {
			return fmt.Errorf("%w: it is %s", ErrConflict, a.State)
		}
		if err := settle(t, &a); err != nil {
			return err
		}
		_, err = t.exec("UPDATE approvals SET state = ?, always = ?, reason = ?, answerer = ?, answered = ? WHERE id = ?",
			a.State, a.Always, a.Reason, a.By, stampOrNull(a.Answered), id)
		if err != nil {
			return err
		}
		out = a
		if _, err = t.appendRow(a.Thread, a.Turn, EventApproval, a); err != nil {
			return err
		}
		return t.shiftTurn(a.Turn, TurnWaiting, TurnActing)
	})
	return out, err
}

// Approval returns an approval.
func (s *Store) Approval(ctx context.Context, id string) (Approval, error) {
	a, err := one(ctx, s, scanApproval, "SELECT "+approvalColumns+" FROM approvals WHERE id = ?", id)
	return a, s.fail("approval", id, err)
}

// Approvals returns the approvals in a state, "" for all: the newest 1000,
// oldest first.
func (s *Store) Approvals(ctx context.Context, state string) ([]Approval, error) {
	where, args := "", []any{maxApprovals}
	if state != "" {
		where, args = "WHERE state = ?", []any{state, maxApprovals}
	}
	all, err := list(ctx, s, scanApproval,
		"SELECT "+approvalColumns+" FROM (SELECT * FROM approvals "+where+" ORDER BY n DESC LIMIT ?) ORDER BY n", args...)
	return all, s.fail("approvals", state, err)
}

const ruleColumns = "id, folder, kind, pattern, dir, created"

func scanRule(row scanner) (Rule, error) {
	var r Rule
	var created int64
	err := row.Scan(&r.ID, &r.Folder, &r.Kind, &r.Pattern, &r.Dir, &created)
	r.Created = fromStamp(created)
	return r, err
}

// Rules returns the rules of a folder, oldest first.
func (s *Store) Rules(ctx context.Context, folder string) ([]Rule, error) {
	all, err := list(ctx, s, scanRule, "SELECT "+ruleColumns+" FROM rules WHERE folder = ? ORDER BY n", folder)
	return all, s.fail("rules of folder", folder, err)
}

// AddRule adds a rule. One that says the same already is returned instead. An
// empty ID or Created is filled in.
func (s *Store) AddRule(ctx context.Context, r Rule) (Rule, error) {
	var out Rule
	err := s.write(ctx, "add rule to folder", r.Folder, func(t *tx) (err error) {
		out, err = t.addRule(r)
		return err
	})
	return out, err
}

func (t *tx) addRule(r Rule) (Rule, error) {
	if r.ID == "" {
		r.ID = NewID("r")
	}
	// The update changes nothing; without one there would be no row to return.
	return one(context.Background(), t, scanRule, `INSERT INTO rules (id, folder, kind, pattern, dir, created) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (folder, kind, pattern, dir) DO UPDATE SET kind = kind RETURNING `+ruleColumns,
		r.ID, r.Folder, r.Kind, r.Pattern, r.Dir, stamp(orNow(r.Created, t.now)))
}

// RemoveRule forgets a rule.
func (s *Store) RemoveRule(ctx context.Context, id string) error {
	return s.write(ctx, "remove rule", id, func(t *tx) error {
		n, err := t.exec("DELETE FROM rules WHERE id = ?", id)
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
}
