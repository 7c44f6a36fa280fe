package link

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// defaultMax bounds strings and slices that carry no max tag.
const defaultMax = 256

// rule is the compiled schema of one struct field.
type rule struct {
	index    int
	name     string
	enum     []string
	optional bool // an empty string is no breach of enum
	min, max int64
	nested   bool // the field is, points to or lists structs with rules of their own
}

var compiled sync.Map // reflect.Type of a struct -> []rule

// rulesOf compiles the tags of a message type, once. A tag that does not parse is a
// defect of this package and panics; the test over all messages finds it.
func rulesOf(t reflect.Type) []rule {
	if r, ok := compiled.Load(t); ok {
		return r.([]rule)
	}
	var rules []rule
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == reflect.TypeFor[json.RawMessage]() {
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		r := rule{index: i, name: name, optional: opts == "omitempty", max: defaultMax}
		if enum, ok := f.Tag.Lookup("enum"); ok {
			r.enum = strings.Split(enum, ",")
		}
		r.min = number(f, "min", 0)
		elem := f.Type
		for elem.Kind() == reflect.Slice || elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		r.nested = elem.Kind() == reflect.Struct
		switch f.Type.Kind() {
		case reflect.Int, reflect.Int64:
			r.max = number(f, "max", 1<<53) // what a JavaScript number holds exactly
		default:
			r.max = number(f, "max", defaultMax)
		}
		rules = append(rules, r)
	}
	compiled.Store(t, rules)
	return rules
}

func number(f reflect.StructField, tag string, missing int64) int64 {
	text, ok := f.Tag.Lookup(tag)
	if !ok {
		return missing
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("link: tag %s of field %s: %v", tag, f.Name, err))
	}
	return n
}

// check holds a message, or the result of a command, against the tags of its
// type. v is a pointer to a struct. The error names the field.
func check(v any) error {
	return checkStruct(reflect.ValueOf(v).Elem())
}

func checkStruct(v reflect.Value) error {
	for _, r := range rulesOf(v.Type()) {
		if err := r.check(v.Field(r.index)); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func (r rule) check(f reflect.Value) error {
	switch f.Kind() {
	case reflect.String:
		return r.checkString(f.String())
	case reflect.Int, reflect.Int64:
		if n := f.Int(); n < r.min || n > r.max {
			return fmt.Errorf("%d is not in %d to %d", n, r.min, r.max)
		}
	case reflect.Struct:
		return checkStruct(f)
	case reflect.Pointer:
		if !f.IsNil() && r.nested {
			return checkStruct(f.Elem())
		}
	case reflect.Slice:
		return r.checkSlice(f)
	}
	return nil
}

func (r rule) checkString(s string) error {
	if n := int64(len(s)); n < r.min || n > r.max {
		return fmt.Errorf("%d bytes, not %d to %d", n, r.min, r.max)
	}
	if r.enum != nil && !slices.Contains(r.enum, s) && (s != "" || !r.optional) {
		return fmt.Errorf("%.40q is none of %s", s, strings.Join(r.enum, ", "))
	}
	return nil
}

func (r rule) checkSlice(f reflect.Value) error {
	if n := int64(f.Len()); n < r.min || n > r.max {
		return fmt.Errorf("%d elements, not %d to %d", n, r.min, r.max)
	}
	for i := range f.Len() {
		e := f.Index(i)
		var err error
		switch {
		case r.nested:
			err = checkStruct(e)
		case e.Kind() == reflect.String && e.Len() > defaultMax:
			err = fmt.Errorf("%d bytes, not 0 to %d", e.Len(), defaultMax)
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}
