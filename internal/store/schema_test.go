package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// migrationRows has a row for every migration file: SQL that puts data into the
// schema before it, and a check of what became of the data.
var migrationRows = []struct {
	file  string
	data  string // run on the schema before this migration
	check func(t *testing.T, conn *sql.Conn)
}{
	{
		file: "0001_first.sql",
		check: func(t *testing.T, conn *sql.Conn) {
			if n, err := number(t.Context(), conn, "SELECT count(*) FROM threads"); err != nil || n != 0 {
				t.Fatal(n, err)
			}
		},
	},
	{
		file: "0002_rule_dir.sql",
		data: `
			INSERT INTO rules (n, id, folder, kind, pattern, created) VALUES
				(1, 'r_build', 'f_1', 'exact', 'rm -rf *', 10), (2, 'r_gone', 'f_1', 'exact', 'make', 11),
				(3, 'r_prefix', 'f_1', 'prefix', 'go test', 12), (7, 'r_write', 'f_2', 'write', '', 13);
			INSERT INTO actions (id, round, place, folder, tool, title, input, door, actor, state, decision, outcome, created)
				SELECT value, 0, 0, 'f_1', 'run', '', '{}', 'cli', '', 'done', '', '', 1 FROM json_each('["a_1","a_2","a_3"]');
			INSERT INTO approvals (id, action, folder, tool, title, command, dir, diff, boundary, reasons, state, always, reason, answerer, created) VALUES
				('p_1', 'a_1', 'f_1', 'run', '', 'rm -rf *', 'build', '', '', '[]', 'allowed', 'r_build', '', 'ui', 9),
				('p_2', 'a_2', 'f_1', 'run', '', 'rm -rf *', '', '', '', '[]', 'allowed', 'r_build', '', 'ui', 10),
				('p_3', 'a_3', 'f_1', 'run', '', 'go test', 'sub', '', '', '[]', 'allowed', 'r_prefix', '', 'ui', 11);`,
		check: func(t *testing.T, conn *sql.Conn) {
			var got string
			err := conn.QueryRowContext(t.Context(), `SELECT group_concat(n || ' ' || id || ' ' || folder || ' ' || kind || ' ' || pattern || ' in ' || dir || ' ' || created, '; ')
				FROM (SELECT * FROM rules ORDER BY n)`).Scan(&got)
			const want = "1 r_build f_1 exact rm -rf * in build 10; 3 r_prefix f_1 prefix go test in  12; 7 r_write f_2 write  in  13"
			if err != nil || got != want {
				t.Fatalf("rules %q, %v\nwant %q", got, err, want)
			}
			_, err = conn.ExecContext(t.Context(), `INSERT INTO rules (id, folder, kind, pattern, dir, created) VALUES ('r_2', 'f_1', 'exact', 'rm -rf *', '', 1);
				INSERT INTO rules (id, folder, kind, pattern, dir, created) VALUES ('r_3', 'f_1', 'exact', 'rm -rf *', 'build', 1)`)
			if err == nil || !strings.Contains(err.Error(), "UNIQUE") {
				t.Fatalf("a rule and its directory are there twice: %v", err)
			}
		},
	},
}

func TestMigrations(t *testing.T) {
	if len(migrationRows) != len(migrations) {
		t.Fatalf("%d migrations and %d rows: every migration needs its row", len(migrations), len(migrationRows))
	}
	for i, row := range migrationRows {
		t.Run(row.file, func(t *testing.T) {
			if migrations[i].name != row.file {
				t.Fatalf("migration %d is %s", i+1, migrations[i].name)
			}
			path := filepath.Join(t.TempDir(), "plexus.db")
			conn := connect(t, path)
			run(t, conn, migrations[:i], row.data)
			run(t, conn, migrations[:i+1], "")
			row.check(t, conn)
			run(t, conn, migrations, "")
			sound(t, conn, int64(len(migrations)))
			openAt(t, path) // the program takes it
		})
	}
}

// TestMigrateKeepsData is the harness itself on two files that are not ours.
func TestMigrateKeepsData(t *testing.T) {
	files := fstest.MapFS{
		"migrations/0001_a.sql": {Data: []byte("CREATE TABLE a (x TEXT); CREATE TABLE gone (y TEXT);")},
		"migrations/0002_b.sql": {Data: []byte("ALTER TABLE a ADD COLUMN n INTEGER DEFAULT 7; DROP TABLE gone;")},
	}
	all := loadMigrations(files)
	conn := connect(t, filepath.Join(t.TempDir(), "x.db"))
	run(t, conn, all[:1], "INSERT INTO a VALUES ('kept'); INSERT INTO gone VALUES ('z')")
	run(t, conn, all, "")
	run(t, conn, all, "") // nothing left to do
	if n, err := number(t.Context(), conn, "SELECT n FROM a WHERE x = 'kept'"); err != nil || n != 7 {
		t.Fatal(n, err)
	}
	sound(t, conn, 2)
}

func TestMigrateFailureChangesNothing(t *testing.T) {
	all := []migration{
		{1, "0001_a.sql", "CREATE TABLE a (x TEXT)"},
		{2, "0002_bad.sql", "CREATE TABLE b (x TEXT); DELETE FROM a; INSERT INTO missing VALUES (1)"},
	}
	conn := connect(t, filepath.Join(t.TempDir(), "x.db"))
	run(t, conn, all[:1], "INSERT INTO a VALUES ('kept')")
	err := migrate(t.Context(), conn, all)
	if err == nil || !strings.Contains(err.Error(), "0002_bad.sql") {
		t.Fatal(err)
	}
	if n, err := number(t.Context(), conn, "SELECT count(*) FROM a"); err != nil || n != 1 {
		t.Fatal("data was lost", n, err)
	}
	if _, err := number(t.Context(), conn, "SELECT count(*) FROM b"); err == nil {
		t.Fatal("half a migration stayed")
	}
	sound(t, conn, 1)
}

func TestLoadMigrationsRefusesAGap(t *testing.T) {
	for _, names := range [][]string{{"0002_a.sql"}, {"0001_a.sql", "0003_b.sql"}, {"0001_a.sql", "0001_b.sql"}, {"1_a.sql"}} {
		files := fstest.MapFS{}
		for _, name := range names {
			files["migrations/"+name] = &fstest.MapFile{}
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was taken", names)
				}
			}()
			loadMigrations(files)
		}()
	}
}

func connect(t *testing.T, path string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", dataSource(path, writerPragmas))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(conn.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func run(t *testing.T, conn *sql.Conn, all []migration, script string) {
	t.Helper()
	if err := migrate(t.Context(), conn, all); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), script); err != nil {
		t.Fatal(err)
	}
}

// sound checks the version and that nothing dangles.
func sound(t *testing.T, conn *sql.Conn, version int64) {
	t.Helper()
	if n, err := number(t.Context(), conn, "PRAGMA user_version"); err != nil || n != version {
		t.Fatal("version", n, err)
	}
	var verdict string
	if err := conn.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Fatal(verdict, err)
	}
	if n, err := number(t.Context(), conn, "SELECT count(*) FROM pragma_foreign_key_check"); err != nil || n != 0 {
		t.Fatal(n, "dangling references", err)
	}
}
