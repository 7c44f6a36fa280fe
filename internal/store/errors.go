package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrNotFound: there is no such row, or one that it belongs to is missing.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the row is in another state than the transition needs, or
	// somebody else was first. The row is as it was.
	ErrConflict = errors.New("conflict")
	// ErrNewer: a later version of Plexus wrote the database.
	ErrNewer = errors.New("the database was written by a newer version of Plexus; nothing was changed: install that version or later, or start with another data folder")
	// ErrFull: the disk is full. What was acknowledged is kept, the failed write left
	// nothing behind, and the store works again when there is room.
	ErrFull = errors.New("the disk is full: nothing of this change was kept, all before it was; free some space and try again")
	// ErrCorrupt: the database file is damaged. The next Open checks it and
	// sets it aside.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("the store is closed")
	// ErrTooLarge: a value is over the bound that the method's doc states.
	ErrTooLarge = errors.New("too large")
)

// translate gives a driver's error the sentinel that callers branch on.
func translate(err error) error {
	switch {
	case err == nil || known(err):
		return err
	case isDiskFull(err):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	}
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return err
	}
	switch se.Code() {
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fmt.Errorf("%w: something that it belongs to (%w)", ErrNotFound, err)
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: it exists already (%w)", ErrConflict, err)
	}
	if se.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // no room for the index of the write-ahead log
		return fmt.Errorf("%w (%w)", ErrFull, err)
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w (%w)", ErrFull, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w (%w)", ErrCorrupt, err)
	case sqlite3.SQLITE_TOOBIG:
		return fmt.Errorf("%w (%w)", ErrTooLarge, err)
	}
	return err
}

func known(err error) bool {
	for _, e := range []error{ErrNotFound, ErrConflict, ErrNewer, ErrFull, ErrCorrupt, ErrClosed, ErrTooLarge} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// breaksTransaction reports whether SQLite may have rolled the whole
// transaction back by itself, or whether it can no longer be trusted. A constraint or a
// decision of ours concerns one savepoint only.
func breaksTransaction(err error) bool {
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return false
	}
	switch se.Code() & 0xff {
	case sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE:
		return false
	}
	return true
}
