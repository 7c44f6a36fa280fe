// Package store is the one durable memory of Plexus: SQLite in WAL mode, one
// file, one owner per fact. A transition is a transaction that also appends the
// event which tells of it, so a follower of the events sees every state that
// ever was, once, in order. Effects are written before they are made and again
// when their outcome is known.
package store
