package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// source is what the generator knows of one Go package: its types in the order of
// the files, and the values of its string constants by type.
type source struct {
	name   string
	types  []typeDef
	byName map[string]typeDef
	values map[string][]string // of string types with constants
	consts map[string]string   // exported untyped constants, as written
}

type typeDef struct {
	name   string // in TypeScript
	goName string
	doc    string
	expr   ast.Expr
	fields []field // of a struct
}

type field struct {
	name     string // on the wire
	doc      string
	expr     ast.Expr
	optional bool
	enum     []string
	to       string // of the field "type" of a link message
	goName   string
}

// load parses the package in dir, tests left out.
func load(dir string) (*source, error) {
	s := &source{name: filepath.Base(dir), byName: map[string]typeDef{}, values: map[string][]string{}, consts: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no Go files in %s", s.name)
	}
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(fset, filepath.Base(name), src, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", s.name, err)
		}
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			switch gen.Tok {
			case token.TYPE:
				s.addTypes(gen)
			case token.CONST:
				s.addConsts(gen)
			}
		}
	}
	return s, nil
}

func (s *source) addTypes(gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		t := spec.(*ast.TypeSpec)
		if !t.Name.IsExported() || t.TypeParams != nil {
			continue
		}
		doc := t.Doc
		if doc == nil {
			doc = gen.Doc
		}
		def := typeDef{name: t.Name.Name, goName: t.Name.Name, doc: doc.Text(), expr: t.Type}
		if st, ok := t.Type.(*ast.StructType); ok {
			def.fields = fieldsOf(st)
		}
		s.types = append(s.types, def)
		s.byName[def.name] = def
	}
}

func fieldsOf(st *ast.StructType) []field {
	var fields []field
	for _, f := range st.Fields.List {
		var tag reflect.StructTag
		if f.Tag != nil {
			if text, err := strconv.Unquote(f.Tag.Value); err == nil {
				tag = reflect.StructTag(text)
			}
		}
		name, opts, _ := strings.Cut(tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue // not on the wire
		}
		doc := f.Doc.Text()
		if doc == "" {
			doc = f.Comment.Text()
		}
		fd := field{name: name, doc: doc, expr: f.Type, optional: strings.Contains(opts, "omitempty"), to: tag.Get("to")}
		if len(f.Names) == 1 {
			fd.goName = f.Names[0].Name
		}
		if enum := tag.Get("enum"); enum != "" {
			fd.enum = strings.Split(enum, ",")
		}
		fields = append(fields, fd)
	}
	return fields
}

// addConsts collects string constants of named types, and exported untyped constants.
func (s *source) addConsts(gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		v := spec.(*ast.ValueSpec)
		for i, name := range v.Names {
			if i >= len(v.Values) || !name.IsExported() {
				continue
			}
			switch typ := v.Type.(type) {
			case nil:
				s.consts[name.Name] = constText(v.Values[i])
			case *ast.Ident:
				if lit, ok := v.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						s.values[typ.Name] = append(s.values[typ.Name], text)
					}
				}
			}
		}
	}
}

// constText writes a literal, or an operation on literals, which Go and TypeScript spell alike; else "".
func constText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value
	case *ast.BinaryExpr:
		x, y := constText(e.X), constText(e.Y)
		if x == "" || y == "" {
			return ""
		}
		return x + " " + e.Op.String() + " " + y
	}
	return ""
}

// isString reports whether the type is declared as a string.
func (t typeDef) isString() bool {
	id, ok := t.expr.(*ast.Ident)
	return ok && id.Name == "string"
}
