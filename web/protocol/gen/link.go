package main

import (
	"fmt"
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// resultDoc finds the type of a command's result in its comment.
var resultDoc = regexp.MustCompile(`Result:\s+(\w+)`)

// writeLink makes link.ts: messages, unions by direction, results by command, and
// the checker of what comes from the daemon.
func writeLink(src *source) (string, error) {
	messages := map[string][]typeDef{} // by the side that reads them
	var order []typeDef
	var wanted []string
	w := &writer{src: src, need: func(pkg, name string) string {
		if pkg == "" {
			wanted = append(wanted, name)
		}
		return name
	}}
	for _, t := range src.types {
		if len(t.fields) > 0 && t.fields[0].to != "" {
			messages[t.fields[0].to] = append(messages[t.fields[0].to], t)
			order = append(order, t)
		}
	}
	results, err := commandResults(messages["worker"])
	if err != nil {
		return "", err
	}
	for _, r := range results {
		if r.result != "null" {
			wanted = append(wanted, r.result)
		}
	}
	done := map[string]bool{}
	for _, t := range order {
		if err := w.declare(t); err != nil {
			return "", err
		}
		done[t.name] = true
	}
	for i := 0; i < len(wanted); i++ { // grows while it is walked
		t, ok := src.byName[wanted[i]]
		if !ok {
			return "", fmt.Errorf("no type %s", wanted[i])
		}
		if !done[t.name] {
			done[t.name] = true
			if err := w.declare(t); err != nil {
				return "", err
			}
		}
	}
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, name := range []string{"Protocol", "MaxMessage", "MaxFrameData", "MaxWholeData", "Path"} {
		if src.consts[name] == "" {
			return "", fmt.Errorf("no constant %s", name)
		}
		fmt.Fprintf(&b, "export const %s = %s;\n", name, src.consts[name])
	}
	b.WriteString("\n" + w.b.String())
	fmt.Fprintf(&b, "export type ToDaemon = %s;\n\n", names(messages["daemon"]))
	fmt.Fprintf(&b, "export type ToWorker = %s;\n\n", names(messages["worker"]))
	b.WriteString("/** Result of each command, by its type. */\nexport interface Results {\n")
	for _, r := range results {
		fmt.Fprintf(&b, "  %s: %s;\n", r.command, r.result)
	}
	b.WriteString("}\n\n/** A message that is answered by a Response with its id. */\nexport type Command = Extract<ToWorker, { type: keyof Results }>;\n\n")
	if err := writeChecker(&b, messages["worker"]); err != nil {
		return "", err
	}
	return b.String(), nil
}

type commandResult struct{ command, result string }

// commandResults reads the result of each message with an id from its comment.
func commandResults(messages []typeDef) ([]commandResult, error) {
	var rs []commandResult
	for _, t := range messages {
		if !slices.ContainsFunc(t.fields, func(f field) bool { return f.name == "id" }) || strings.Contains(t.doc, "No response.") {
			continue
		}
		m := resultDoc.FindStringSubmatch(strings.ReplaceAll(t.doc, "\n", " "))
		if m == nil {
			return nil, fmt.Errorf("the comment of %s names no Result", t.name)
		}
		rs = append(rs, commandResult{t.fields[0].enum[0], m[1]})
	}
	return rs, nil
}

func names(types []typeDef) string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = t.name
	}
	return strings.Join(list, " | ")
}

// writeChecker writes parseToWorker and the table it reads. The daemon's messages
// are flat, which keeps the checker small; one that is not is an error here.
func writeChecker(b *strings.Builder, messages []typeDef) error {
	b.WriteString("const shapes: Record<ToWorker[\"type\"], Record<string, \"string\" | \"number\" | \"boolean\" | \"string?\">> = {\n")
	for _, t := range messages {
		var parts []string
		for _, f := range t.fields[1:] {
			id, _ := f.expr.(*ast.Ident)
			kind := ""
			if id != nil {
				kind = map[string]string{"string": "string", "int": "number", "int64": "number", "bool": "boolean"}[id.Name]
			}
			if f.optional && kind == "string" {
				kind = "string?"
			} else if kind == "" || f.optional {
				return fmt.Errorf("%s.%s: the checker knows no such field", t.name, f.name)
			}
			parts = append(parts, f.name+": "+strconv.Quote(kind))
		}
		fmt.Fprintf(b, "  %s: { %s },\n", t.fields[0].enum[0], strings.Join(parts, ", "))
	}
	b.WriteString(checker)
	return nil
}

const checker = `};

function isMessageType(name: unknown): name is ToWorker["type"] {
  return typeof name === "string" && Object.hasOwn(shapes, name);
}

/**
 * Checks a parsed message of the daemon. Returns undefined for a type that this
 * extension does not know; throws a TypeError that names what is wrong with a known one.
 */
export function parseToWorker(value: unknown): ToWorker | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("not a JSON object");
  const fields = value as Record<string, unknown>;
  const type = fields["type"];
  if (typeof type !== "string") throw new TypeError("type is not a string");
  if (!isMessageType(type)) return undefined;
  for (const [name, want] of Object.entries(shapes[type])) {
    const got = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (want === "string?" ? got !== undefined && typeof got !== "string" : typeof got !== want) {
      throw new TypeError(` + "`${type}.${name} is not a ${want}`" + `);
    }
    if (typeof got === "number" && !Number.isSafeInteger(got)) throw new TypeError(` + "`${type}.${name} is not a whole number`" + `);
  }
  return value as ToWorker;
}
`
