package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf describes In, a struct, as a JSON schema. Beside the json and
// jsonschema tags it reads a bounds tag of the struct's own fields:
//
//	bounds:"min=1,max=600,default=120"     numbers
//	bounds:"min=1,max=4096"                strings: length in characters
//	bounds:"max=20"                        arrays: number of items
//	bounds:"enum=create|overwrite|append,default=overwrite"
//
// default is documentation: a handler sees the zero value.
func schemaOf[In any](adjust func(*jsonschema.Schema)) (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, fmt.Errorf("describe the input: %w", err)
	}
	if schema.Type != "object" {
		return nil, fmt.Errorf("describe the input: %s is not a struct", reflect.TypeFor[In]())
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil || field.Tag.Get("bounds") == "" {
			continue
		}
		if err := bound(property, field.Tag.Get("bounds")); err != nil {
			return nil, fmt.Errorf("bounds of %s: %w", name, err)
		}
	}
	if adjust != nil {
		adjust(schema)
	}
	return schema, nil
}

// bound writes the parts of a bounds tag into the schema of one field.
func bound(s *jsonschema.Schema, tag string) error {
	for _, part := range strings.Split(tag, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "min", "max":
			err = limit(s, key, value)
		case "enum":
			for _, v := range strings.Split(value, "|") {
				s.Enum = append(s.Enum, v)
			}
		case "default":
			s.Default = json.RawMessage(value)
			if kindOf(s) == "string" {
				s.Default, err = json.Marshal(value)
			}
		default:
			err = fmt.Errorf("unknown key %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func limit(s *jsonschema.Schema, key, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	f := float64(n)
	switch kind := kindOf(s); {
	case kind == "string" && key == "min":
		s.MinLength = &n
	case kind == "string":
		s.MaxLength = &n
	case kind == "array" && key == "min":
		s.MinItems = &n
	case kind == "array":
		s.MaxItems = &n
	case key == "min":
		s.Minimum = &f
	default:
		s.Maximum = &f
	}
	return nil
}

// kindOf returns the JSON type that s asks for; a field that may be null has
// two and null is not the interesting one.
func kindOf(s *jsonschema.Schema) string {
	if s.Type != "" {
		return s.Type
	}
	for _, t := range s.Types {
		if t != "null" {
			return t
		}
	}
	return ""
}
