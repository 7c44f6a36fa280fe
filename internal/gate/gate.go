// Package gate decides which calls need a person's word and keeps the
// questions that are open. Judging is pure; asking is durable: a pending
// approval survives a restart, is answered once, and the first answer wins.
package gate

// Level says when Plexus stops to ask.
type Level string

const (
	Manual     Level = "manual"      // before every command and every write
	AutoReview Level = "auto-review" // when the model or our rules call an action dangerous; the default
	Full       Level = "full"        // never
)
