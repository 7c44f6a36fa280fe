package plx

type row struct {
	name, text string
	rendered   bool
	want       Reply
}

var replies = []row{}
