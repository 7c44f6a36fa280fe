package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

const folderColumns = "id, name, path, level, created"

func scanFolder(row scanner) (Folder, error) {
	var f Folder
	var created int64
	err := row.Scan(&f.ID, &f.Name, &f.Path, &f.Level, &created)
	f.Created = fromStamp(created)
	return f, err
}

// AddFolder approves a root. A path that is approved already gives the existing
// folder unchanged; one that was removed comes back with its threads, with
// f's level and without its old rules. An empty ID, Name or Created is filled in; a name
// that is taken gets a number.
func (s *Store) AddFolder(ctx context.Context, f Folder) (Folder, error) {
	if f.Path == "" {
		return Folder{}, s.fail("add folder", "", errors.New("it has no path"))
	}
	if f.ID == "" {
		f.ID = NewID("f")
	}
	if f.Name == "" {
		f.Name = filepath.Base(f.Path)
	}
	f.Name = strings.NewReplacer("/", "-", "\\", "-").Replace(clean(f.Name))
	var out Folder
	err := s.write(ctx, "add folder", fmt.Sprintf("%q", f.Path), func(t *tx) error {
		old, err := one(ctx, t, scanFolder, "SELECT "+folderColumns+" FROM folders WHERE path = ? AND removed IS NULL", f.Path)
		if err == nil {
			out = old
			return nil
		}
		if !errors.Is(err, ErrNotFound) {
			return err
		}
		name, err := t.freeName(f.Name)
		if err != nil {
			return err
		}
		out, err = one(ctx, t, scanFolder, `INSERT INTO folders (id, name, path, level, created) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (path) DO UPDATE SET name = excluded.name, level = excluded.level, removed = NULL
			RETURNING `+folderColumns, f.ID, name, f.Path, f.Level, stamp(orNow(f.Created, t.now)))
		return err
	})
	return out, err
}

// freeName returns name, or name with the first number that makes it unique.
func (t *tx) freeName(name string) (string, error) {
	free := name
	for i := 2; ; i++ {
		taken, err := one(context.Background(), t, value[int], "SELECT count(*) FROM folders WHERE name = ? AND removed IS NULL", free)
		if err != nil || taken == 0 {
			return free, err
		}
		free = fmt.Sprintf("%s-%d", name, i)
	}
}

// Folders returns the approved folders in the order of their approval.
func (s *Store) Folders(ctx context.Context) ([]Folder, error) {
	all, err := list(ctx, s, scanFolder, "SELECT "+folderColumns+" FROM folders WHERE removed IS NULL ORDER BY n")
	return all, s.fail("folders", "", err)
}

// Folder returns the approved folder with this id, name or path.
func (s *Store) Folder(ctx context.Context, ref string) (Folder, error) {
	f, err := one(ctx, s, scanFolder, "SELECT "+folderColumns+` FROM folders
		WHERE removed IS NULL AND (id = ?1 OR name = ?1 OR path = ?1) ORDER BY id = ?1 DESC, name = ?1 DESC LIMIT 1`, ref)
	return f, s.fail("folder", ref, err)
}

// SetFolderLevel changes when Plexus asks in this folder. The level's
// spelling is the gate's affair.
func (s *Store) SetFolderLevel(ctx context.Context, id, level string) (Folder, error) {
	var f Folder
	err := s.write(ctx, "set level of folder", id, func(t *tx) (err error) {
		f, err = one(ctx, t, scanFolder, "UPDATE folders SET level = ? WHERE id = ? AND removed IS NULL RETURNING "+folderColumns, level, id)
		return err
	})
	return f, err
}

// RemoveFolder takes the approval back and forgets the folder's rules. Its
// threads stay, archived.
func (s *Store) RemoveFolder(ctx context.Context, id string) error {
	return s.write(ctx, "remove folder", id, func(t *tx) error {
		n, err := t.exec("UPDATE folders SET removed = ? WHERE id = ? AND removed IS NULL", stamp(t.now), id)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrNotFound
		}
		if _, err := t.exec("DELETE FROM rules WHERE folder = ?", id); err != nil {
			return err
		}
		threads, err := list(ctx, t, value[string], "UPDATE threads SET archived = 1 WHERE folder = ? AND archived = 0 AND doomed = 0 RETURNING id", id)
		if err != nil {
			return err
		}
		for _, thread := range threads {
			if _, err := t.threadChanged(thread); err != nil {
				return err
			}
		}
		return nil
	})
}
