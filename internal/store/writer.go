package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// maxBatch bounds how many writes share a commit.
const maxBatch = 256

// writer owns the one connection that writes. Its goroutine takes the writes
// that wait, runs each in a savepoint of one transaction and commits them
// together: the cost of making a commit durable is shared by all that came meanwhile.
type writer struct {
	db   *sql.DB
	conn *sql.Conn
	tx   *tx

	jobs      chan *job // unbuffered: a job is either taken, and answered, or was never sent
	closing   chan struct{}
	done      chan struct{}
	committed func([]eventKey)
}

// job is one write: all of do happens, or nothing. do may run twice (again
// alone, when its batch failed), so it must only assign what it returns.
type job struct {
	ctx  context.Context
	do   func(*tx) error
	err  error
	done chan struct{}
}

// eventKey is what followers are told of an event that was committed.
type eventKey struct {
	id     int64
	thread string
}

func startWriter(db *sql.DB, conn *sql.Conn, committed func([]eventKey)) *writer {
	w := &writer{
		db: db, conn: conn, committed: committed,
		tx:      &tx{conn: conn, stmts: map[string]*sql.Stmt{}},
		jobs:    make(chan *job),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}
	go w.serve()
	return w
}

// write runs do in a transaction and returns when it is committed. When ctx ends before
// it was begun, it is not; after that its outcome is always waited for, so
// that a caller knows what happened.
func (w *writer) write(ctx context.Context, do func(*tx) error) error {
	j := &job{ctx: ctx, do: do, done: make(chan struct{})}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.closing:
		return ErrClosed
	}
	<-j.done
	return j.err
}

func (w *writer) close() error {
	close(w.closing)
	<-w.done
	return errors.Join(w.tx.close(), w.conn.Close(), w.db.Close())
}

func (w *writer) serve() {
	defer close(w.done)
	batch := make([]*job, 0, maxBatch)
	for {
		batch = batch[:0]
		select {
		case j := <-w.jobs:
			batch = append(batch, j)
		case <-w.closing:
			return
		}
		for more := true; more && len(batch) < maxBatch; {
			select {
			case j := <-w.jobs:
				batch = append(batch, j)
			default:
				more = false
			}
		}
		w.run(batch)
	}
}

// run settles every job of the batch.
func (w *writer) run(batch []*job) {
	alive := make([]*job, 0, len(batch))
	for _, j := range batch {
		if err := context.Cause(j.ctx); err != nil {
			j.err = err
			close(j.done)
			continue
		}
		alive = append(alive, j)
	}
	if len(alive) == 0 {
		return
	}
	err := w.attempt(alive)
	if err != nil && len(alive) > 1 {
		// One of them may be the reason, such as the one that filled the disk:
		// the others get their own chance.
		for _, j := range alive {
			if err := w.attempt([]*job{j}); err != nil {
				j.err = err
			}
			close(j.done)
		}
		return
	}
	for _, j := range alive {
		if err != nil {
			j.err = err
		}
		close(j.done)
	}
}

// attempt runs the jobs in one transaction. An error means that none of them
// happened; a job's own refusal is in its err.
func (w *writer) attempt(jobs []*job) error {
	t := w.tx
	t.events, t.texts, t.now = t.events[:0], t.texts[:0], now()
	if _, err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, j := range jobs {
		if err := w.step(j); err != nil {
			w.undo()
			return err
		}
	}
	err := t.saveTexts()
	if err == nil {
		_, err = t.exec("COMMIT")
	}
	if err != nil {
		w.undo()
		return err
	}
	if len(t.events) > 0 {
		w.committed(t.events)
	}
	return nil
}

// step runs one job in a savepoint. An error breaks the whole transaction.
func (w *writer) step(j *job) error {
	t := w.tx
	if _, err := t.exec("SAVEPOINT job"); err != nil {
		return err
	}
	events, texts := len(t.events), len(t.texts)
	j.err = j.do(t)
	if j.err != nil {
		if breaksTransaction(j.err) {
			return j.err
		}
		t.events, t.texts = t.events[:events], t.texts[:texts]
		if _, err := t.exec("ROLLBACK TO job"); err != nil {
			return err
		}
	}
	_, err := t.exec("RELEASE job")
	return err
}

// undo ends the transaction. SQLite may have ended it by itself, and says so
// with an error that means nothing here.
func (w *writer) undo() {
	_, _ = w.tx.exec("ROLLBACK")
}

// tx is the transaction that a job runs in; only the writer's goroutine uses it.
type tx struct {
	conn   *sql.Conn
	stmts  map[string]*sql.Stmt // by text; the texts are constants of this package
	now    time.Time            // of the transaction
	events []eventKey           // appended by it
	texts  []eventText          // to be made findable at its end: FTS5 would flush at each savepoint
}

// at is the time of the transaction for an optional field.
func (t *tx) at() *time.Time {
	at := t.now
	return &at
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if st, ok := t.stmts[query]; ok {
		return st, nil
	}
	st, err := t.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = st
	return st, nil
}

// exec runs a statement and returns the number of rows that it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	st, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// insert runs a statement and returns the key of the row that it inserted.
func (t *tx) insert(query string, args ...any) (int64, error) {
	st, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

func (t *tx) rows(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	st, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(context.Background(), args...)
}

func (t *tx) close() error {
	var errs []error
	for _, st := range t.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(errs...)
}
