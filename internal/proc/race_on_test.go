//go:build race

package proc

// hugeBytes is less when every access to memory is watched.
const hugeBytes = 50_000_000
