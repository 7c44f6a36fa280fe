package workspace

import "github.com/dustin/go-humanize"

// count writes a number and what is counted: "1 byte", "2,000 lines".
func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "match" || what == "entry" {
		what = map[string]string{"match": "matche", "entry": "entrie"}[what]
	}
	return humanize.Comma(n) + " " + what + "s"
}
