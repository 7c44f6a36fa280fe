package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// Options says where a store lives.
type Options struct {
	Path   string       // the database file; its directory is made when missing
	Assets string       // directory of the asset files; made when missing; "" is assets beside the database
	Log    *slog.Logger // nil discards
}

// Store is the open database. Its methods may be called from any goroutine.
// Writes are made one after another by one goroutine, several to a commit when
// several wait; a write that returned nil is on disk.
type Store struct {
	path   string
	assets string
	log    *slog.Logger
	aside  string

	readers *sql.DB
	stmtMu  sync.Mutex
	stmts   map[string]*sql.Stmt // the readers', by text
	writer  *writer

	// assetMu lets many put assets, or one purge remove some.
	assetMu sync.RWMutex

	follow followers

	closing   chan struct{}
	closeOnce sync.Once
	closeErr  error
	suspect   atomic.Bool // damage was seen and the mark is written
}

// Open opens or makes the store. A damaged database is renamed and a fresh
// one made in its place (see Aside); a database of a later version gives
// ErrNewer and is not touched. ctx bounds opening only.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", o.Path, err)
	}
	if o.Assets == "" {
		o.Assets = filepath.Join(filepath.Dir(path), "assets")
	}
	for _, dir := range []string{filepath.Dir(path), o.Assets} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open store %q: %w", path, err)
		}
	}
	s := &Store{path: path, assets: o.Assets, log: o.Log, stmts: map[string]*sql.Stmt{}, closing: make(chan struct{})}
	if err := s.openDatabase(ctx); err != nil {
		if !errors.Is(err, ErrCorrupt) {
			return nil, fmt.Errorf("open store %q: %w", path, err)
		}
		if s.aside, err = setAside(path, err, o.Log); err != nil {
			return nil, fmt.Errorf("open store %q: %w", path, err)
		}
		if err := s.openDatabase(ctx); err != nil {
			return nil, fmt.Errorf("open store %q: %w", path, err)
		}
	}
	return s, nil
}

// Aside returns where Open put a damaged database, "" when there was none.
func (s *Store) Aside() string { return s.aside }

// Close ends all followers, finishes the write that is being made and closes
// the files. Methods called after it return ErrClosed.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		close(s.closing)
		s.closeErr = errors.Join(s.writer.close(), s.closeReaders())
	})
	return s.closeErr
}

func (s *Store) closeReaders() error {
	s.stmtMu.Lock()
	defer s.stmtMu.Unlock()
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	clear(s.stmts)
	return errors.Join(append(errs, s.readers.Close())...)
}

// openDatabase opens the file, checks it, brings it to the present schema and
// starts the writer. On an error nothing stays open.
func (s *Store) openDatabase(ctx context.Context) (err error) {
	fresh, err := touchPrivate(s.path)
	if err != nil {
		return err
	}
	pragmas := writerPragmas
	if fresh {
		pragmas = slices.Concat(freshPragmas, writerPragmas)
	}
	writing, err := sql.Open("sqlite", dataSource(s.path, pragmas))
	if err != nil {
		return err
	}
	writing.SetMaxOpenConns(1)
	closers := []io.Closer{writing}
	defer func() {
		if err != nil {
			for _, c := range closers {
				c.Close()
			}
			err = translate(err)
		}
	}()
	conn, err := writing.Conn(ctx)
	if err != nil {
		return err
	}
	closers = append([]io.Closer{conn}, closers...)
	if err := checkFile(ctx, conn, s.path); err != nil {
		return err
	}
	if err := migrate(ctx, conn, migrations); err != nil {
		return err
	}
	if err := probe(ctx, conn); err != nil {
		return err
	}
	last, err := number(ctx, conn, newestEvent)
	if err != nil {
		return err
	}
	readers, err := sql.Open("sqlite", dataSource(s.path, readerPragmas))
	if err != nil {
		return err
	}
	readers.SetMaxOpenConns(4)
	readers.SetMaxIdleConns(4)
	s.readers = readers
	s.follow = followers{last: last, all: map[*follower]struct{}{}}
	s.writer = startWriter(writing, conn, s.committed)
	return nil
}

// committed is called by the writer after each commit, before those who wait
// for it are told.
func (s *Store) committed(events []eventKey) { s.follow.committed(events) }

// freshPragmas come first and on a new file only: later they have no effect, or
// write to a file that may have to be left alone.
var freshPragmas = []string{"auto_vacuum(incremental)"}

var writerPragmas = []string{
	"busy_timeout(5000)",
	"journal_mode(wal)",
	"synchronous(full)",
	"foreign_keys(1)",
	"journal_size_limit(67108864)",
	"cache_size(-8192)",
}

var readerPragmas = []string{
	"busy_timeout(5000)",
	"query_only(1)",
	"foreign_keys(1)",
	"cache_size(-4096)",
}

// dataSource returns the driver's name for the file. The path is escaped: a
// question mark or a hash in it would end it.
func dataSource(path string, pragmas []string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // file:/C:/...
	}
	q := url.Values{"_pragma": pragmas}
	return "file:" + (&url.URL{Path: slashed}).EscapedPath() + "?" + q.Encode()
}

// touchPrivate makes the file with owner-only rights when it is missing, so that
// SQLite never makes it with wider ones; -wal and -shm take after it. It reports
// whether the file is empty, and ErrCorrupt when it is anything but a database:
// SQLite would write over a short one and throw away the log beside it.
func touchPrivate(path string) (fresh bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := f.Chmod(0o600); err != nil {
			return false, err
		}
	}
	var start [16]byte
	switch n, err := io.ReadFull(f, start[:]); {
	case n == 0 && err == io.EOF:
		return true, nil
	case err != nil && err != io.ErrUnexpectedEOF:
		return false, err
	case string(start[:n]) != "SQLite format 3\x00":
		return false, fmt.Errorf("%w: it does not begin like one", ErrCorrupt)
	default:
		return false, nil
	}
}

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewID returns prefix, "_" and 12 random lower-case letters and digits (60 bits).
func NewID(prefix string) string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return prefix + "_" + idEncoding.EncodeToString(b[:])[:12]
}
