package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// maxInline is the size up to which an action's input or result is kept in its
// row and its events.
const maxInline = 64 << 10

// headBytes is how much of a larger one its stub shows.
const headBytes = 2 << 10

// stub stands in a row and in events for a value that is kept as an asset.
type stub struct {
	Asset string `json:"asset"`
	Bytes int    `json:"bytes"`
	Head  string `json:"head"`
	// Small has the value's own fields that are short, such as an exit code: what a row of a list shows.
	Small map[string]json.RawMessage `json:"small,omitempty"`
}

// Bounds of what a stub repeats.
const (
	smallField  = 256
	smallFields = 32
)

// small returns the short fields of a JSON object.
func small(raw json.RawMessage) map[string]json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) > smallFields {
		return nil // not an object, or not one of ours
	}
	maps.DeleteFunc(all, func(name string, v json.RawMessage) bool { return len(name)+len(v) > smallField })
	return all
}

const actionColumns = `id, coalesce(thread, ''), coalesce(turn, ''), round, place, folder, tool, title, input, coalesce(input_asset, ''),
	door, actor, state, decision, outcome, result, coalesce(result_asset, ''), created, ended`

// actionRow is an Action with what its asset columns say. An input that looks
// like a stub is not one unless they say so.
type actionRow struct {
	Action
	inputAsset, resultAsset string
}

func scanAction(row scanner) (actionRow, error) {
	var a actionRow
	var created int64
	var ended sql.NullInt64
	err := row.Scan(&a.ID, &a.Thread, &a.Turn, &a.Round, &a.N, &a.Folder, &a.Tool, &a.Title, (*[]byte)(&a.Input), &a.inputAsset,
		&a.Door, &a.Actor, &a.State, &a.Decision, &a.Outcome, (*[]byte)(&a.Result), &a.resultAsset, &created, &ended)
	if len(a.Result) == 0 {
		a.Result = nil
	}
	a.Created, a.Ended = fromStamp(created), fromNullStamp(ended)
	return a, err
}

func (t *tx) action(id string) (actionRow, error) {
	return one(context.Background(), t, scanAction, "SELECT "+actionColumns+" FROM actions WHERE id = ?", id)
}

// AddAction writes a call as intended, before anything is done for it. An
// empty ID or Created is filled in. ErrConflict when the id is taken.
func (s *Store) AddAction(ctx context.Context, a Action) (Action, error) {
	if a.ID == "" {
		a.ID = NewID("a")
	}
	if len(a.Input) == 0 {
		a.Input = json.RawMessage("null")
	}
	a.Title = clean(a.Title)
	kept, asset, err := s.stash(ctx, a.Input)
	if err != nil {
		return Action{}, s.fail("add action", a.ID, err)
	}
	a.State, a.Decision, a.Outcome, a.Result, a.Ended = ActionIntended, "", "", nil, nil
	row := actionRow{Action: a, inputAsset: asset}
	row.Input = kept
	created := a.Created
	err = s.write(ctx, "add action", a.ID, func(t *tx) error {
		row.Created = orNow(created, t.now)
		_, err := t.exec(`INSERT INTO actions (id, thread, turn, round, place, folder, tool, title, input, input_asset, door, actor, state, decision, outcome, created)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', ?)`,
			row.ID, orNull(row.Thread), orNull(row.Turn), row.Round, row.N, row.Folder, row.Tool, row.Title, string(row.Input), orNull(asset),
			row.Door, row.Actor, string(row.State), stamp(row.Created))
		if err != nil {
			return err
		}
		return t.appendAction(row.Action, a.Input)
	})
	a.Created = row.Created
	return a, err
}

// appendAction appends the event of a new action, found by its command or title.
func (t *tx) appendAction(a Action, input json.RawMessage) error {
	event, err := t.appendRow(a.Thread, a.Turn, EventAction, a)
	if err != nil {
		return err
	}
	text := a.Title
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) == nil && in.Command != "" && in.Command != a.Title {
		text += "\n" + in.Command
	}
	t.indexText(event, text)
	return nil
}

// ActionMove is a transition of an action.
type ActionMove struct {
	From     []ActionState // where it must be; nil for anywhere but done
	To       ActionState   // never intended
	Decision string        // "" leaves it
	Outcome  string        // "" leaves it
	Result   json.RawMessage
}

// MoveAction makes a transition. ErrConflict when the action is not in From or
// is done.
func (s *Store) MoveAction(ctx context.Context, id string, m ActionMove) (Action, error) {
	result, asset, err := s.stash(ctx, m.Result)
	if err != nil {
		return Action{}, s.fail("move action", id, err)
	}
	var out actionRow
	err = s.write(ctx, "move action", id, func(t *tx) error {
		a, err := t.action(id)
		if err != nil {
			return err
		}
		if err := m.allowed(a.Action); err != nil {
			return err
		}
		a.State = m.To
		if m.Decision != "" {
			a.Decision = m.Decision
		}
		if m.Outcome != "" {
			a.Outcome = m.Outcome
		}
		if len(m.Result) > 0 {
			a.Result, a.resultAsset = result, asset
		}
		if m.To == ActionDone {
			a.Ended = t.at()
		}
		out = a
		return t.saveAction(a)
	})
	if err != nil {
		return Action{}, err
	}
	if len(m.Result) > 0 {
		out.Result, out.resultAsset = m.Result, ""
	}
	return s.whole(ctx, out), nil
}

func (m ActionMove) allowed(a Action) error {
	switch m.To {
	case ActionWaiting, ActionRunning, ActionDone:
	default:
		return fmt.Errorf("an action cannot move to state %q", m.To)
	}
	if a.State == ActionDone || m.From != nil && !slices.Contains(m.From, a.State) {
		return fmt.Errorf("%w: it is %s", ErrConflict, a.State)
	}
	return nil
}

func (t *tx) saveAction(a actionRow) error {
	_, err := t.exec("UPDATE actions SET state = ?, decision = ?, outcome = ?, result = ?, result_asset = ?, ended = ? WHERE id = ?",
		string(a.State), a.Decision, a.Outcome, string(a.Result), orNull(a.resultAsset), stampOrNull(a.Ended), a.ID)
	if err != nil {
		return err
	}
	_, err = t.appendRow(a.Thread, a.Turn, EventAction, a.Action)
	return err
}

// Action returns an action with its input and result whole, whatever their size.
func (s *Store) Action(ctx context.Context, id string) (Action, error) {
	a, err := one(ctx, s, scanAction, "SELECT "+actionColumns+" FROM actions WHERE id = ?", id)
	if err != nil {
		return Action{}, s.fail("action", id, err)
	}
	return s.whole(ctx, a), nil
}

// TurnActions returns the actions of a turn by round and place, each whole.
func (s *Store) TurnActions(ctx context.Context, turn string) ([]Action, error) {
	all, err := s.actions(ctx, "turn = ? ORDER BY round, place, n", turn)
	return all, s.fail("actions of turn", turn, err)
}

// OpenActions returns the actions of all threads that are not done, oldest first, each whole.
func (s *Store) OpenActions(ctx context.Context) ([]Action, error) {
	all, err := s.actions(ctx, "state <> 'done' ORDER BY n")
	return all, s.fail("open actions", "", err)
}

func (s *Store) actions(ctx context.Context, where string, args ...any) ([]Action, error) {
	rows, err := list(ctx, s, scanAction, "SELECT "+actionColumns+" FROM actions WHERE "+where, args...)
	all := make([]Action, 0, len(rows))
	for _, a := range rows {
		all = append(all, s.whole(ctx, a))
	}
	return all, err
}

// stash returns how a value is kept: itself, or a stub and the asset's hash.
func (s *Store) stash(ctx context.Context, raw json.RawMessage) (json.RawMessage, string, error) {
	if len(raw) == 0 {
		return nil, "", nil
	}
	if !json.Valid(raw) {
		return nil, "", errors.New("the value is not JSON")
	}
	if text := clean(string(raw)); text != string(raw) {
		raw = json.RawMessage(text)
	}
	if len(raw) <= maxInline {
		return raw, "", nil
	}
	hash, _, err := s.PutAsset(ctx, strings.NewReader(string(raw)))
	if err != nil {
		return nil, "", err
	}
	text, err := encode(stub{Asset: hash, Bytes: len(raw), Head: head(string(raw), headBytes), Small: small(raw)})
	return json.RawMessage(text), hash, err
}

// whole puts the values back that are kept as assets. A missing file leaves
// the stub: a record that shows less is better than none.
func (s *Store) whole(ctx context.Context, a actionRow) Action {
	for _, v := range []struct {
		hash string
		into *json.RawMessage
	}{{a.inputAsset, &a.Input}, {a.resultAsset, &a.Result}} {
		if v.hash == "" {
			continue
		}
		raw, err := s.readAsset(ctx, v.hash)
		if err != nil {
			s.log.Error("a value of an action could not be read", slog.String("action", a.ID), slog.Any("error", err))
			continue
		}
		*v.into = raw
	}
	return a.Action
}

func (s *Store) readAsset(ctx context.Context, hash string) ([]byte, error) {
	r, err := s.OpenAsset(ctx, hash)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
