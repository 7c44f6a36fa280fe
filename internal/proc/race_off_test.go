//go:build !race

package proc

// hugeBytes is the output of a command that prints too much.
const hugeBytes = 1_000_000_000
