// Package loop is the state machine of a turn: compose, send, read, act, return,
// answer. It drives a Model and the engine, and writes every step to the store
// before it takes it, so that a process that dies at any instant leaves a turn that
// the next one can take up or end with a plain reason.
package loop
