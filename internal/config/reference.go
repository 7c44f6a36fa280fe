package config

import (
	"fmt"
	"strings"
)

// Reference is the page of settings for people, in Markdown, made from the declarations.
func Reference() string {
	var b strings.Builder
	b.WriteString("# Settings\n\n`plexus config` shows them with their values, `plexus config set KEY VALUE` changes one, and so does the Settings page of the UI.\n" +
		"This page is made from the declarations in `internal/config/settings.go`.\n")
	section := ""
	for _, d := range declarations {
		if d.Section != section {
			section = d.Section
			fmt.Fprintf(&b, "\n## %s\n\n| setting | default | takes | |\n| --- | --- | --- | --- |\n", section)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Key, code(d.Default), d.takes(), d.Doc)
	}
	b.WriteString("\n## Secrets\n\n`plexus secret set NAME` reads the value from the terminal or standard input.\n\n")
	for _, name := range SecretNames() {
		fmt.Fprintf(&b, "- `%s`\n", name)
	}
	return b.String()
}

func code(v string) string {
	if v == "" {
		return ""
	}
	return "`" + v + "`"
}

// takes words the values of a setting.
func (d Declaration) takes() string {
	switch d.Type {
	case TypeBool:
		return "`true` or `false`"
	case TypeChoice:
		return "`" + strings.Join(d.Options, "`, `") + "`"
	case TypeNumber:
		return d.Min + " to " + d.Max
	case TypeDuration:
		return "a time from " + d.Min + " to " + d.Max
	}
	return "text"
}
