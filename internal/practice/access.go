package practice

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
)

// access is what shows that a request comes from a page that loaded properly: the session's token, and the papers that the
// page gets before each send. It protects nothing; it is here because the real site has it and a client that sends by itself
// does not get past it.
type access struct {
	session string
	socket  string

	mu      sync.Mutex
	papers  map[string]bool // requirement tokens that were given out and not used
	conduit map[string]bool
}

const proofPrefix = "gAAAAAB"

func (a *access) init() {
	a.session, a.socket = "practice-session-"+rand.Text(), rand.Text()
	a.papers, a.conduit = map[string]bool{}, map[string]bool{}
}

func (a *access) signedIn(r *http.Request) bool {
	return r.Header.Get("Authorization") == "Bearer "+a.session
}

func (a *access) issue(to map[string]bool, prefix string) string {
	token := prefix + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	to[token] = true
	return token
}

// admit says whether a send has all its papers, and takes them: each send needs new ones.
func (a *access) admit(r *http.Request) bool {
	requirements := r.Header.Get("Openai-Sentinel-Chat-Requirements-Token")
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.papers[requirements] || !strings.HasPrefix(r.Header.Get("Openai-Sentinel-Proof-Token"), proofPrefix) {
		return false
	}
	delete(a.papers, requirements)
	delete(a.conduit, r.Header.Get("X-Conduit-Token"))
	return true
}
