package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// source runs a query: the readers' pool or the transaction of a write.
type source interface {
	rows(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (s *Store) rows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	select {
	case <-s.closing:
		return nil, ErrClosed
	default:
	}
	st, err := s.stmt(ctx, query)
	if err != nil {
		return nil, s.orClosed(err)
	}
	rows, err := st.QueryContext(ctx, args...)
	return rows, s.orClosed(err)
}

// orClosed is ErrClosed for an error that a Close in the middle made.
func (s *Store) orClosed(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-s.closing:
		return ErrClosed
	default:
		return err
	}
}

// stmt returns the prepared query: preparing costs ten times what running a
// short one does. The texts are constants of this package, so they are few.
func (s *Store) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	s.stmtMu.Lock()
	defer s.stmtMu.Unlock()
	if st, ok := s.stmts[query]; ok {
		return st, nil
	}
	st, err := s.readers.PrepareContext(context.WithoutCancel(ctx), query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

// scanner is a row.
type scanner interface{ Scan(dest ...any) error }

// list returns all rows of a query, never nil, so that JSON has [] for none.
func list[T any](ctx context.Context, src source, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := src.rows(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []T{}
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// one returns the first row of a query, ErrNotFound when there is none.
func one[T any](ctx context.Context, src source, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	var zero T
	rows, err := src.rows(ctx, query, args...)
	if err != nil {
		return zero, err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return zero, err
		}
		return zero, ErrNotFound
	}
	v, err := scan(rows)
	if err != nil {
		return zero, err
	}
	return v, rows.Close()
}

// value scans a single column.
func value[T any](row scanner) (T, error) {
	var v T
	err := row.Scan(&v)
	return v, err
}

// write runs do as one transaction. What and id name it in the error.
func (s *Store) write(ctx context.Context, what, id string, do func(*tx) error) error {
	return s.fail(what, id, s.writer.write(ctx, do))
}

// fail wraps an error once, with its sentinel, and notes damage.
func (s *Store) fail(what, id string, err error) error {
	if err == nil {
		return nil
	}
	err = translate(err)
	if errors.Is(err, ErrCorrupt) {
		s.markSuspect(err)
	}
	if id == "" {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s %s: %w", what, id, err)
}

// now is the present in the resolution in which times are kept.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// orNow is t in that resolution, or otherwise now.
func orNow(t, otherwise time.Time) time.Time {
	if t.IsZero() {
		return otherwise
	}
	return t.UTC().Truncate(time.Microsecond)
}

func stamp(t time.Time) int64 { return t.UnixMicro() }

func stampOrNull(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UnixMicro()
}

func fromStamp(us int64) time.Time { return time.UnixMicro(us).UTC() }

func fromNullStamp(us sql.NullInt64) *time.Time {
	if !us.Valid {
		return nil
	}
	t := fromStamp(us.Int64)
	return &t
}

// orNull is how an optional reference is kept.
func orNull(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// clean makes text that JSON and SQLite both give back unchanged.
func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// encode is JSON without the escapes that are for HTML.
func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// firstLine is the first line with something in it, at most limit characters.
func firstLine(text string, limit int) string {
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			continue
		}
		if runes := []rune(line); len(runes) > limit {
			return strings.TrimSpace(string(runes[:limit-1])) + "…"
		}
		return line
	}
	return ""
}

// head is the beginning of text, at most limit bytes, never half a character.
func head(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
