package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration brings the schema from version-1 to version.
type migration struct {
	version int
	name    string
	script  string
}

// migrations are all there are, in order. A change of the schema is a new
// file; a file that was released is never edited.
var migrations = loadMigrations(migrationFiles)

// loadMigrations reads NNNN_name.sql files, which must count up from 1. It
// panics otherwise: the files are part of the program.
func loadMigrations(files fs.FS) []migration {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		panic(err)
	}
	var list []migration
	for i, name := range names {
		base := strings.TrimPrefix(name, "migrations/")
		script, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err)
		}
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(base, want) {
			panic(fmt.Sprintf("migration %s: the name must begin with %s", base, want))
		}
		list = append(list, migration{version: i + 1, name: base, script: string(script)})
	}
	return list
}

// migrate runs the migrations that the database lacks, each in a transaction
// with its version number, so that a crash between two leaves a usable state.
func migrate(ctx context.Context, conn *sql.Conn, all []migration) error {
	version, err := number(ctx, conn, "PRAGMA user_version")
	if err != nil {
		return err
	}
	if version > int64(len(all)) {
		return fmt.Errorf("%w (its schema is %d, this version knows %d)", ErrNewer, version, len(all))
	}
	for _, m := range all[version:] {
		if err := m.run(ctx, conn); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}
	return nil
}

func (m migration) run(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, m.script)
	if err == nil {
		_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", m.version))
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, undo := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, undo)
	}
	return nil
}

// checkLimit is the size up to which a database is checked whole at each
// start; above it the check would be felt, and is only made after damage was seen.
const checkLimit = 4 << 20

// suspectMark is the suffix of a file that says that damage was seen while running.
const suspectMark = ".suspect"

// checkFile returns ErrCorrupt when the file is no database or a damaged one.
func checkFile(ctx context.Context, conn *sql.Conn, path string) error {
	if _, err := number(ctx, conn, "PRAGMA schema_version"); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	_, missing := os.Stat(path + suspectMark)
	if info.Size() > checkLimit && missing != nil {
		return nil
	}
	var verdict string
	if err := conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	if missing == nil {
		return os.Remove(path + suspectMark)
	}
	return nil
}

// probe touches both ends of every table, which finds the common damage (a
// file cut short, overwritten pages) in a database too large to check whole.
func probe(ctx context.Context, conn *sql.Conn) error {
	for _, table := range []string{
		"folders", "rules", "threads", "turns", "chats", "messages", "message_chunks", "assets",
		"actions", "approvals", "events", "settings", "browsers",
	} {
		for _, order := range []string{"ASC", "DESC"} {
			rows, err := conn.QueryContext(ctx, "SELECT * FROM "+table+" ORDER BY rowid "+order+" LIMIT 1")
			if err != nil {
				return err
			}
			rows.Next()
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
	}
	return nil
}

// setAside renames the database and the files that belong to it, and returns
// the new name. It never overwrites one.
func setAside(path string, cause error, log *slog.Logger) (string, error) {
	base := path + ".corrupt-" + time.Now().UTC().Format("20060102-150405")
	aside := base
	for i := 2; ; i++ {
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
		aside = fmt.Sprintf("%s-%d", base, i)
	}
	for _, suffix := range []string{"-wal", "-shm", ""} { // the database last: until then a crash changes nothing
		if err := os.Rename(path+suffix, aside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("set the damaged database aside: %w", err)
		}
	}
	if err := os.Remove(path + suspectMark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("set the damaged database aside: %w", err)
	}
	log.Error("the database was damaged and is set aside; starting with an empty one", slog.String("aside", aside), slog.Any("cause", cause))
	return aside, nil
}

// markSuspect makes the next Open check the whole database.
func (s *Store) markSuspect(cause error) {
	if s.suspect.Swap(true) {
		return
	}
	s.log.Error("the database is damaged; it is checked at the next start", slog.Any("cause", cause))
	if err := os.WriteFile(s.path+suspectMark, nil, 0o600); err != nil {
		s.log.Error("could not write the mark of a damaged database", slog.Any("error", err))
	}
}

// number runs a query for one integer.
func number(ctx context.Context, conn *sql.Conn, query string) (int64, error) {
	var n int64
	err := conn.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// newestEvent is the id of the newest event ever, 0 before the first.
const newestEvent = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)"
