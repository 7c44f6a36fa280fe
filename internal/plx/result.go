package plx

// Result is what one action came to, for the model.
type Result struct {
	// Tool and Status are written into the frame. Status is ok, error, denied, timeout, interrupted or dropped.
	Tool, Status string
	Exit         *int   // exit code; commands only
	Signal       string // name of the signal that ended a command ("KILL"), or empty
	Content      string // what the tool returned
	// Lines and Bytes are the true size of the whole output; 0 when Content is all of it.
	Lines, Bytes int64
	// Path is the file that was read and FirstLine the number of Content's first line in it (0 counts as 1).
	Path      string
	FirstLine int
	// Spool is the file with the whole output; its lines are those of the whole Content.
	Spool string
}

// Budget bounds a results message, in UTF-16 code units as a chat page counts them.
type Budget struct {
	Message int // the whole message, framing and guidance included
	Result  int // the content of one result, its marker included
}

// DefaultBudget is what the known chat pages take.
var DefaultBudget = Budget{Message: 24000, Result: 6000}
