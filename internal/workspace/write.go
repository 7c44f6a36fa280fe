package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"plexus/internal/tool"
)

type writeInput struct {
	Path    string `json:"path" jsonschema:"file, relative to the folder" bounds:"min=1,max=4096"`
	Content string `json:"content" jsonschema:"what the file shall hold, or what append adds; kept byte for byte"`
	Mode    string `json:"mode,omitempty" jsonschema:"create refuses a file that exists" bounds:"enum=create|overwrite|append,default=overwrite"`
}

func writeTool() tool.Tool {
	return tool.New(tool.Info{
		Name: "write",
		Doc: "Create, overwrite or append to a file. Folders on the way are made. The file has either its old or its new content, never a part of it. " +
			"At most 10 MB.",
		Class:   tool.ClassWrite,
		Timeout: 60 * time.Second,
	}, tool.Handlers[writeInput]{
		Check: func(in writeInput) error {
			if len(in.Content) > writeBytes {
				return tool.Errorf("too-large", "write: the content has %s; at most %s can be written at once. Write the rest with mode append.",
					count(int64(len(in.Content)), "byte"), count(writeBytes, "byte"))
			}
			return nil
		},
		Subject: func(in writeInput) tool.Subject {
			verb := "write "
			if in.Mode == "append" {
				verb = "append to "
			}
			return tool.Subject{Title: verb + in.Path, Paths: []string{in.Path}}
		},
		Preview: previewWrite,
		Run:     runWrite,
	})
}

func runWrite(ctx context.Context, env tool.Env, in writeInput) (tool.Result, error) {
	d, err := Open(env.Call.Folder)
	if err != nil {
		return tool.Result{}, err
	}
	defer d.Close()
	p, err := d.writable(in)
	if err != nil {
		return tool.Result{}, err
	}
	before, err := d.before(p)
	if err != nil {
		return tool.Result{}, err
	}
	after := afterWrite(in, before)
	if in.Mode != "append" && before.exists && before.comparable() && bytes.Equal(before.text, after.text) || in.Mode == "append" && in.Content == "" && before.exists {
		return ok(fmt.Sprintf("%s already has this content; nothing was changed.\n", p.spelled)), nil
	}
	if err := d.replace(ctx, p, in); err != nil {
		return tool.Result{}, err
	}
	c := change(p.rel, before, after)
	r := ok(wrote(p.spelled, in, c) + "\n")
	r.Changes = []tool.Change{c}
	return r, nil
}

func previewWrite(_ context.Context, env tool.Env, in writeInput) (string, error) {
	d, err := Open(env.Call.Folder)
	if err != nil {
		return "", err
	}
	defer d.Close()
	p, err := d.writable(in)
	if err != nil {
		return "", err
	}
	before, err := d.before(p)
	if err != nil {
		return "", err
	}
	after := afterWrite(in, before)
	if !before.comparable() || !after.comparable() {
		return fmt.Sprintf("(%s: no diff, since the file is large or not text; %s will be written)\n", p.spelled, count(int64(len(in.Content)), "byte")), nil
	}
	diff, _, _ := unified(p.rel, before, after)
	return diff, nil
}

func wrote(spelled string, in writeInput, c tool.Change) string {
	size := count(int64(len(in.Content)), "byte")
	switch {
	case c.Op == "create":
		return fmt.Sprintf("Created %s: %s, %s.", spelled, count(int64(c.Added), "line"), size)
	case in.Mode == "append":
		return fmt.Sprintf("Appended %s to %s.", size, spelled)
	case c.Cut:
		return fmt.Sprintf("Wrote %s: %s.", spelled, size)
	default:
		return fmt.Sprintf("Wrote %s: %s added, %d removed, now %s.", spelled, count(int64(c.Added), "line"), c.Removed, size)
	}
}

// writable finds the file that a write is about, and refuses what cannot be one.
func (d *Dir) writable(in writeInput) (place, error) {
	p, err := d.find(in.Path)
	switch {
	case err != nil:
		return p, err
	case p.info != nil && p.info.IsDir(), p.info == nil && strings.HasSuffix(in.Path, "/"):
		return p, tool.Errorf("is-folder", "%s is a folder, not a file.", p.spelled)
	case p.info != nil && in.Mode == "create":
		return p, exists(p.spelled)
	case p.info != nil && p.info.Mode().Perm()&0o200 == 0:
		return p, tool.Errorf("not-permitted", "%s is write-protected; it was left as it was.", p.spelled)
	case p.info != nil && in.Mode == "append" && p.info.Size() > appendTo:
		return p, tool.Errorf("too-large", "%s is too large to be appended to safely; use a command.", p.spelled)
	}
	return p, nil
}

func exists(spelled string) *tool.Error {
	return tool.Errorf("exists", "%s exists already; it was left as it was. Use mode overwrite to replace it.", spelled)
}

// before reads what a file holds now, when that is small enough to compare.
func (d *Dir) before(p place) (content, error) {
	if p.info == nil {
		return content{}, nil
	}
	if p.info.Size() > diffSource {
		return content{exists: true, huge: true}, nil
	}
	f, _, err := d.open(p)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, diffSource+1))
	if err != nil {
		return content{}, d.explain(p.spelled, err)
	}
	if len(text) > diffSource {
		return content{exists: true, huge: true}, nil
	}
	return content{exists: true, text: text}, nil
}

func afterWrite(in writeInput, before content) content {
	if in.Mode != "append" {
		return content{exists: true, text: []byte(in.Content)}
	}
	if before.huge {
		return content{exists: true, huge: true, text: []byte(in.Content)}
	}
	return content{exists: true, text: append(bytes.Clone(before.text), in.Content...)}
}

// replace puts the new content into a temporary file beside the old one,
// flushes it to the disk and renames it over the old one. All of that goes
// through the opened parent folder, so that the folder may be moved or swapped
// meanwhile and the write still ends where it began.
func (d *Dir) replace(ctx context.Context, p place, in writeInput) error {
	dir, base := path.Split(p.rel)
	dir = path.Clean(dir)
	if err := d.root.MkdirAll(dir, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) { // something that is no folder is in the way
			err = errNotFolder
		}
		return d.explain(p.spelled, err)
	}
	parent, err := d.sub(dir)
	if err != nil {
		return d.explain(p.spelled, err)
	}
	defer parent.Close()
	s := staged{parent: parent, base: base}
	defer s.discard()
	if err := s.create(p.info); err != nil {
		return d.explain(p.spelled, err)
	}
	if in.Mode == "append" && p.info != nil {
		err = d.copyOld(ctx, p, &s)
	}
	if err == nil {
		_, err = io.WriteString(s.file, in.Content)
	}
	if err == nil {
		err = s.flush()
	}
	if err == nil && ctx.Err() != nil {
		err = tool.Errorf("stopped", "The write was stopped; %s was left as it was.", p.spelled)
	}
	if err == nil {
		err = s.put(p.info == nil && in.Mode == "create")
	}
	if errors.Is(err, fs.ErrExist) {
		return exists(p.spelled)
	}
	if err != nil {
		return d.explain(p.spelled, err)
	}
	return nil
}

// copyOld copies the old content in front of what is appended.
func (d *Dir) copyOld(ctx context.Context, p place, s *staged) error {
	old, _, err := d.open(p)
	if err != nil {
		return err
	}
	defer old.Close()
	for ctx.Err() == nil {
		if _, err := io.CopyN(s.file, old, 8<<20); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
	return nil // the caller sees that ctx ended
}
