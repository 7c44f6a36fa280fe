package practice

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"plexus/internal/scenario"
)

// chats holds all conversations and projects, in memory.
type chats struct {
	mu       sync.Mutex
	scenario *scenario.Scenario
	rng      *rand.Rand
	byID     map[string]*conversation
	order    []*conversation // the newest last
	projects []*project
}

// project is a folder of conversations with a memory setting.
type project struct {
	id     string // g-p-<32 hex>
	name   string
	memory string
}

// conversation is one chat. Its messages form a line.
type conversation struct {
	id      string
	project *project // nil outside of projects

	mu       sync.Mutex
	title    string
	updated  time.Time
	mind     *scenario.Mind
	messages []message
	turn     *turn // the newest
}

func (c *chats) init(s *scenario.Scenario, seed uint64) {
	c.scenario, c.byID = s, map[string]*conversation{}
	c.rng = rand.New(rand.NewPCG(seed, 1))
}

// seed returns the seed of the next stream's cuts.
func (c *chats) seed() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.Uint64()
}

func (c *chats) find(id string) (*conversation, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conv, ok := c.byID[id]
	return conv, ok
}

// open returns the conversation with the id, or a new one when id is empty.
func (c *chats) open(id, projectID string) (*conversation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id != "" {
		conv, ok := c.byID[id]
		if !ok {
			return nil, fmt.Errorf("no conversation %q", id)
		}
		return conv, nil
	}
	conv := &conversation{id: newUUID(), mind: c.scenario.Start(), updated: time.Now()}
	if projectID != "" {
		i := slices.IndexFunc(c.projects, func(p *project) bool { return p.id == projectRef(projectID) })
		if i < 0 {
			return nil, fmt.Errorf("no project %q", projectID)
		}
		conv.project = c.projects[i]
	}
	c.byID[conv.id] = conv
	c.order = append(c.order, conv)
	return conv, nil
}

// list returns the conversations of a project, or those outside of all, the newest first.
func (c *chats) list(projectID string) []*conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*conversation
	for _, conv := range slices.Backward(c.order) {
		if conv.projectID() == projectID {
			out = append(out, conv)
		}
	}
	return out
}

func (c *chats) addProject(name, memory string) (*project, error) {
	if name = strings.TrimSpace(name); name == "" {
		return nil, errors.New("a project needs a name")
	}
	p := &project{id: "g-p-" + strings.ReplaceAll(newUUID(), "-", ""), name: name, memory: memory}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.projects = append(c.projects, p)
	return p, nil
}

// allProjects returns the projects, the newest first.
func (c *chats) allProjects() []*project {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.projects)
	slices.Reverse(out)
	return out
}

func (c *conversation) projectID() string {
	if c.project == nil {
		return ""
	}
	return c.project.id
}

var (
	projectID  = regexp.MustCompile(`^g-p-[0-9a-f]{32}`)
	notForSlug = regexp.MustCompile(`[^a-z0-9]+`)
)

// projectRef is the id in a reference to a project, which may carry its name as well.
func projectRef(ref string) string { return projectID.FindString(ref) }

// slug is the project as it stands in addresses.
func (p *project) slug() string {
	s := strings.Trim(notForSlug.ReplaceAllString(strings.ToLower(p.name), "-"), "-")
	if s == "" {
		return p.id
	}
	return p.id + "-" + s
}

// heard is what came of a message.
type heard struct {
	reply scenario.Reply
	turn  *turn // nil when the reply's fault refuses the message
	first bool  // the first answer of the conversation
	lost  error // why the mind has no reply
}

// hear takes a message: the mind decides on its reply and, unless that refuses the message, the message joins the
// conversation and a turn is begun, so that no other message comes between. The only error is errBusy.
func (c *conversation) hear(m message, text string) (heard, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turn != nil && !c.turn.ended() {
		return heard{}, errBusy
	}
	h := heard{first: c.turn == nil}
	h.reply, h.lost = c.mind.Reply(text)
	where, known := places[h.reply.Fault]
	switch {
	case h.reply.Fault == "":
	case !known || where == atPage:
		h.lost = fmt.Errorf("a reply cannot have the fault %q", h.reply.Fault)
	case where == atSend:
		return h, nil
	}
	if h.lost != nil {
		h.reply = scenario.Reply{Mode: scenario.ModePlain}
	}
	if c.title == "" {
		c.title = title(text)
	}
	c.updated = time.Now()
	c.messages = append(c.messages, m)
	c.turn = newTurn(c, h.reply.Mode)
	h.turn = c.turn
	return h, nil
}

var errBusy = errors.New("the conversation is still answering")

// add appends a message, or puts it in the place of an earlier state of it.
func (c *conversation) add(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.messages {
		if c.messages[i].ID == m.ID {
			c.messages[i] = m
			return
		}
	}
	c.messages = append(c.messages, m)
}

// title names a conversation after the first words of its first message.
func title(text string) string {
	text = strings.NewReplacer("{plx:task}", "", "{/plx:task}", "").Replace(text)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		t := strings.Join(words[:min(len(words), 7)], " ")
		if r := []rune(t); len(r) > 60 {
			t = string(r[:60])
		}
		return t
	}
	return "New chat"
}

// tree is the conversation as GET /backend-api/conversation/<id> tells it.
func (c *conversation) tree() map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	const root = "client-created-root"
	type node struct {
		ID       string   `json:"id"`
		Message  *message `json:"message"`
		Parent   *string  `json:"parent"`
		Children []string `json:"children"`
	}
	mapping := map[string]*node{root: {ID: root, Children: []string{}}}
	at := root
	for _, m := range c.messages {
		parent := at
		mapping[m.ID] = &node{ID: m.ID, Message: &m, Parent: &parent, Children: []string{}}
		mapping[parent].Children = append(mapping[parent].Children, m.ID)
		at = m.ID
	}
	out := map[string]any{
		"conversation_id": c.id, "title": c.title, "mapping": mapping, "current_node": at,
		"update_time": float64(c.updated.UnixMicro()) / 1e6, "async_status": nil, "gizmo_id": nil, "gizmo_type": nil,
	}
	if c.turn != nil && !c.turn.ended() {
		out["async_status"] = 1
	}
	if c.project != nil {
		out["gizmo_id"], out["gizmo_type"] = c.project.id, "snorlax"
	}
	return out
}

// newest is the turn that was begun last, nil when there is none.
func (c *conversation) newest() *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turn
}
