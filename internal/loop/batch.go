package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"plexus/internal/plx"
	"plexus/internal/store"
	"plexus/internal/tool"
)

// batch runs a reply's actions and makes the message of their results.
func (t *turn) batch(ctx context.Context, reply store.Message, read plx.Reply) (store.Message, error) {
	calls := t.calls(reply, read.Actions)
	remarks := plx.Remarks(read)
	plan, err := t.plan(ctx, calls)
	if err != nil {
		return store.Message{}, err
	}
	if dropped := len(calls) - len(plan.calls); dropped > 0 {
		remarks = append(remarks, fmt.Sprintf("Action %d needed the user's approval, so it alone was taken; the other %d of that reply were dropped. Ask for them again if they still make sense.", plan.calls[0].N, dropped))
	}
	results, err := t.do(ctx, plan)
	if err != nil {
		return store.Message{}, err
	}
	return t.results(ctx, results, remarks)
}

// results makes the silent message that goes back.
func (t *turn) results(ctx context.Context, results []plx.Result, remarks []string) (store.Message, error) {
	return t.add(ctx, store.Message{Kind: store.MessageResults, Text: plx.Results(results, remarks, t.limits.Budget)})
}

// calls turns actions into calls. Their input is checked by the engine, so that a bad one is a result like any other.
func (t *turn) calls(reply store.Message, actions []plx.Action) []tool.Call {
	calls := make([]tool.Call, 0, len(actions))
	for i, a := range actions {
		calls = append(calls, tool.Call{
			ID:     store.NewID("a"),
			Thread: t.turn.Thread,
			Turn:   t.turn.ID,
			Round:  reply.Round,
			N:      i + 1,
			Folder: tool.Folder{ID: t.folder.ID, Name: t.folder.Name, Path: t.folder.Path},
			Tool:   a.Tool,
			Input:  input(a),
			Actor:  tool.Actor{Door: tool.DoorChat, Name: reply.Model},
			Review: a.Attrs["approval"] == "required",
		})
	}
	return calls
}

// fields says for each tag where its attributes and body go in the tool's input. Attributes that are not here are ignored.
var fields = map[string]struct {
	attrs []string
	body  string
}{
	"read":   {attrs: []string{"path", "start", "end"}},
	"list":   {attrs: []string{"path", "depth"}},
	"search": {attrs: []string{"query", "path", "glob", "mode", "case"}, body: "query"},
	"run":    {attrs: []string{"cwd", "timeout"}, body: "command"},
	"write":  {attrs: []string{"path", "mode"}, body: "content"},
}

func input(a plx.Action) json.RawMessage {
	f := fields[a.Tool]
	in := map[string]any{}
	switch {
	case f.body == "content":
		in[f.body] = a.Body // the file, byte for byte
	case f.body != "" && strings.TrimSpace(a.Body) != "":
		in[f.body] = strings.TrimSpace(a.Body)
	}
	for _, name := range f.attrs {
		if v, ok := a.Attrs[name]; ok {
			in[name] = value(name, v)
		}
	}
	data, err := json.Marshal(in)
	if err != nil {
		return json.RawMessage("{}") // strings and numbers always encode
	}
	return data
}

// value gives an attribute the type that its tool takes; what does not fit stays text, and the tool names it.
func value(name, v string) any {
	switch name {
	case "start", "end", "depth", "timeout":
		if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
			return n
		}
	case "case":
		switch strings.ToLower(v) {
		case "true", "yes", "sensitive", "1":
			return true
		case "false", "no", "insensitive", "ignore", "0":
			return false
		}
	}
	return v
}

// plan is which calls of a batch run, and how.
type plan struct {
	calls    []tool.Call
	parallel bool // all are proved read-only
}

// plan looks at the calls before any is run: if one needs a person, the batch is that one alone, since running the
// others first would change what the person is asked about.
func (t *turn) plan(ctx context.Context, calls []tool.Call) (plan, error) {
	p := plan{calls: calls, parallel: true}
	for _, c := range calls {
		v, err := t.l.cfg.Engine.Judge(ctx, c)
		if err != nil {
			p.parallel = false // bad input: its result will say so
			continue
		}
		if v.Ask {
			return plan{calls: []tool.Call{c}}, nil
		}
		p.parallel = p.parallel && v.ReadOnly
	}
	return p, nil
}

// do runs the calls and returns their results in order.
func (t *turn) do(ctx context.Context, p plan) ([]plx.Result, error) {
	results := make([]plx.Result, len(p.calls))
	errs := make([]error, len(p.calls))
	one := func(i int) {
		var res tool.Result
		res, errs[i] = t.call(ctx, p.calls[i])
		results[i] = result(p.calls[i].Tool, res)
	}
	if p.parallel {
		var wg sync.WaitGroup
		for i := range p.calls {
			wg.Go(func() { one(i) })
		}
		wg.Wait()
	} else {
		for i := range p.calls {
			if one(i); errs[i] != nil {
				break
			}
		}
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err // stopped: the results are recorded, the turn ends here
	}
	return results, nil
}

// call runs one call. While a person is asked the turn is waiting: the store moves it with the approval.
func (t *turn) call(ctx context.Context, c tool.Call) (tool.Result, error) {
	if err := context.Cause(ctx); err != nil {
		return tool.Result{}, err
	}
	res, err := t.l.cfg.Engine.Do(ctx, c)
	if err != nil {
		return tool.Result{}, fmt.Errorf("run %s: %w", c.Tool, err)
	}
	return res, nil
}

// result is a tool's result as the model is told it.
func result(name string, r tool.Result) plx.Result {
	return plx.Result{Tool: name, Status: string(r.Status), Exit: r.Exit, Signal: r.Signal, Content: r.Text,
		Lines: r.Lines, Bytes: r.Bytes, Path: r.Path, FirstLine: r.FirstLine, Spool: r.Spool}
}
