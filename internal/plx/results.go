package plx

import (
	"fmt"
	"slices"
	"strings"
)

// guidance ends each results message: a model that is not told so goes on to confirm what it knows.
const guidance = "If this is enough for the task, answer now with one done tag. Else go on with one note and the next actions."

const closing = "\n{/plx:result}"

// Results returns the message that carries the results of a reply's actions, in their order, and remarks on the reply. All of it
// is within b, or DefaultBudget where b has none.
func Results(rs []Result, remarks []string, b Budget) string {
	if b.Message <= 0 {
		b.Message = DefaultBudget.Message
	}
	if b.Result <= 0 {
		b.Result = DefaultBudget.Result
	}
	frames := make([]string, len(rs))
	lengths := make([]int, len(rs))
	contents := make([]string, len(rs))
	for i, r := range rs {
		frames[i], contents[i] = frame(i+1, r), defuse(r.Content)
		lengths[i] = min(units(contents[i]), b.Result)
	}
	n := len(rs)
	last, room := lastBlock(frames, remarks, b)
	for ; n > 0 && room < 0; n-- { // more results than can even be named
		left := fmt.Sprintf("Results left out, since they do not fit into a message: %d.", len(rs)-n+1)
		last, room = lastBlock(frames[:n-1], append(remarks[:len(remarks):len(remarks)], left), b)
	}
	var out strings.Builder
	for i, share := range share(lengths[:n], room) {
		out.WriteString(frames[i])
		out.WriteString(cut(contents[i], rs[i], share))
		out.WriteString(closing)
		out.WriteByte('\n')
	}
	out.WriteString(last)
	return head(out.String(), b.Message)
}

// lastBlock is the guidance, with the remarks before it. It also returns what room then is for the contents in the frames.
func lastBlock(frames, remarks []string, b Budget) (string, int) {
	open := fmt.Sprintf("{plx:result n=\"%d\" tool=\"plexus\" status=\"ok\"}\n", len(frames)+1)
	text := ""
	if len(remarks) > 0 {
		// Remarks are short; they have a bound all the same, so that they never crowd out the results.
		text = cutEnd(defuse(strings.Join(remarks, "\n")), min(b.Result, b.Message/4), "\n[cut]") + "\n"
	}
	block := open + text + guidance + closing
	room := b.Message - units(block)
	for _, f := range frames {
		room -= units(f) + len(closing) + len("\n")
	}
	return block, room
}

// frame is the opening line of a result.
func frame(n int, r Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{plx:result n=\"%d\" tool=\"%s\" status=\"%s\"", n, attribute(r.Tool), attribute(r.Status))
	if r.Exit != nil {
		fmt.Fprintf(&b, " exit=\"%d\"", *r.Exit)
	}
	if r.Signal != "" {
		fmt.Fprintf(&b, " signal=\"%s\"", attribute(r.Signal))
	}
	b.WriteString("}\n")
	return b.String()
}

var attributeText = strings.NewReplacer("&", "&amp;", `"`, "&quot;", "\n", " ", "\r", " ", "{", "", "}", "")

func attribute(s string) string { return defuse(attributeText.Replace(s)) }

// share divides room max-min fairly: who wants no more than an equal share gets all of it, and what that leaves is shared among
// the rest.
func share(wants []int, room int) []int {
	order := make([]int, len(wants))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return wants[a] - wants[b] })
	got := make([]int, len(wants))
	for i, at := range order {
		got[at] = min(wants[at], max(0, room)/(len(order)-i))
		room -= got[at]
	}
	return got
}
