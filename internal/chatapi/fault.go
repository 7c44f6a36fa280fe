package chatapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"plexus/internal/loop"
)

// Where faults of this package send a person.
const (
	todoKey   = "Set the key of this server: plexus secret set model.api.key"
	todoURL   = "Check model.api.url and model.api.model."
	todoAgain = "Send a message to go on."
)

func unset(text, todo string) *loop.Fault {
	return &loop.Fault{Code: loop.FaultNotConfigured, Text: text, Todo: todo, Unsent: true}
}

// bad is the fault of an answer that is not the protocol.
func (x *exchange) bad(what string) *loop.Fault {
	return &loop.Fault{Code: loop.FaultProtocol, Text: fmt.Sprintf("The API server %s answered with %s. What came before is kept.", host(x.endpoint.URL), what),
		Todo: todoURL + " The server must speak the Chat Completions protocol."}
}

// cut is the fault of a reply that ended before its end.
func (x *exchange) cut(how string) *loop.Fault {
	return &loop.Fault{Code: loop.FaultNetwork, Text: fmt.Sprintf("The reply of %s is incomplete: %s. Its text so far is kept; nothing of it was run.", host(x.endpoint.URL), how), Todo: todoAgain}
}

func (x *exchange) silent() *loop.Fault {
	return &loop.Fault{Code: loop.FaultSilent, Text: fmt.Sprintf("The API server %s said nothing for %s. What came before is kept.", host(x.endpoint.URL), x.endpoint.Idle),
		Todo: "Check the server; model.api.idle sets how long it may be silent."}
}

// apiError is an error as servers write it: an object in "error", a text in
// "error", or the fields alone.
type apiError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    any    `json:"code"`
	Detail  any    `json:"detail"`
}

func (e apiError) code() string {
	switch c := e.Code.(type) {
	case string:
		return c
	case float64:
		return strconv.Itoa(int(c))
	}
	return ""
}

// parseError reads what a server says about an error. ok is false when it says
// nothing that could be shown.
func parseError(data []byte) (apiError, bool) {
	var outer struct {
		Error json.RawMessage `json:"error"`
		apiError
	}
	var list []json.RawMessage // one provider wraps the object in a list
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	if json.Unmarshal(data, &outer) != nil {
		text := strings.TrimSpace(string(data))
		return apiError{Message: text}, text != "" && text[0] != '<' && text[0] != '{'
	}
	e := outer.apiError
	var text string
	if json.Unmarshal(outer.Error, &text) == nil && text != "" {
		e.Message = text
	} else if len(outer.Error) > 0 {
		var inner apiError
		if json.Unmarshal(outer.Error, &inner) == nil {
			e = inner
		}
	}
	if detail, ok := e.Detail.(string); ok && e.Message == "" {
		e.Message = detail
	}
	return e, e.Message != "" || e.code() != "" || e.Type != ""
}

// told is the fault of an error that came inside of a response with status 200.
func (x *exchange) told(raw json.RawMessage) error {
	wrapped, err := json.Marshal(map[string]json.RawMessage{"error": raw})
	if err != nil {
		return x.bad("an error that cannot be read")
	}
	e, _ := parseError(wrapped)
	status, err := strconv.Atoi(e.code())
	if err != nil || status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	f := x.classify(status, nil, e)
	f.Unsent = false
	return f
}

// refusal is the error of a response that is not 200: a *retry for a server that is
// broken, else a Fault.
func (x *exchange) refusal(status int, h http.Header, body []byte) error {
	e, _ := parseError(body)
	f := x.classify(status, h, e)
	if status >= 500 && f.Code == loop.FaultSiteError && status != http.StatusNotImplemented {
		after, known := retryAfter(h)
		if after > maxPause {
			return f
		}
		r := &retry{fault: f, status: status}
		if known {
			r.after = max(after, time.Millisecond)
		}
		return r
	}
	return f
}

// classify gives an error of a server its name. Everything but a broken server is a
// certain refusal.
func (x *exchange) classify(status int, h http.Header, e apiError) *loop.Fault {
	said := x.said(status, e)
	at := host(x.endpoint.URL)
	f := &loop.Fault{Unsent: true}
	switch {
	case tooLong(status, e):
		f.Code, f.Todo = loop.FaultTooLong, "Start a new thread, or use a model with a larger context."
		f.Text = fmt.Sprintf("The conversation is too long for %s (%s). It is kept and was not sent again.", x.endpoint.Model, said)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusBadRequest && badKey(e):
		f.Code, f.Todo = loop.FaultUnauthorized, todoKey
		f.Text = fmt.Sprintf("%s does not accept the API key (%s). Your message is kept.", at, said)
		if x.endpoint.Key == "" {
			f.Text = fmt.Sprintf("%s wants an API key and none is set (%s). Your message is kept.", at, said)
		}
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status >= 300 && status < 400, status < 500 && noModel(e):
		f.Code, f.Todo = loop.FaultNotConfigured, todoURL
		f.Text = fmt.Sprintf("%s does not know the model %q or this address (%s). Your message is kept.", at, x.endpoint.Model, said)
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired:
		f.Code, f.Todo = loop.FaultRateLimited, "Wait, then send again."
		f.Text = fmt.Sprintf("%s takes no more requests for now (%s). Your message is kept.", at, said)
		if e.code() == "insufficient_quota" || status == http.StatusPaymentRequired {
			f.Todo = "Check the plan and the credit of your account there."
		}
		if after, ok := retryAfter(h); ok {
			f.Until = time.Now().Add(after)
		}
	case status >= 500, status == http.StatusRequestTimeout:
		f.Code, f.Todo, f.Unsent = loop.FaultSiteError, "Try again later.", false
		f.Text = fmt.Sprintf("%s has a problem (%s). Your message is kept.", at, said)
	default:
		f.Code, f.Todo = loop.FaultProtocol, todoURL+" The server must speak the Chat Completions protocol."
		f.Text = fmt.Sprintf("%s does not take the request (%s). Your message is kept.", at, said)
	}
	return f
}

// said is the status with the server's own words.
func (x *exchange) said(status int, e apiError) string {
	said := strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
	if words := x.safe(e.Message); words != "" {
		said += ": " + words
	}
	return said
}

// safe makes foreign text fit to be shown: one line, bounded, without the key.
func (x *exchange) safe(s string) string {
	if len(s) > maxError {
		s = s[:maxError]
	}
	if key := x.endpoint.Key; key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:299]) + "…"
	}
	return strings.TrimRight(s, ".")
}

func tooLong(status int, e apiError) bool {
	if status == http.StatusRequestEntityTooLarge || e.code() == "context_length_exceeded" {
		return true
	}
	return status == http.StatusBadRequest && mentions(e, "context length", "context_length", "context window", "maximum context", "context size",
		"too many tokens", "prompt is too long", "input is too long", "reduce the length", "exceeds the maximum number of tokens", "string too long")
}

func badKey(e apiError) bool { return mentions(e, "api key", "api_key", "apikey", "unauthorized") }

func noModel(e apiError) bool {
	return e.code() == "model_not_found" || mentions(e, "model") && mentions(e, "not found", "does not exist", "not exist", "unknown model", "no such model", "invalid model")
}

func mentions(e apiError, words ...string) bool {
	text := strings.ToLower(e.Message + " " + e.Type + " " + e.code())
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(h http.Header) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e7 {
		return time.Duration(s * float64(time.Second)), true
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(time.Until(t), 0), true
	}
	return 0, false
}
