package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"

	"plexus/internal/config"
	"plexus/internal/gate"
	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
	"plexus/internal/tool"
)

// failure is what a caller is told: this file owns the wording of errors.
type failure struct {
	Status int    `json:"-"`
	Code   string `json:"code"`
	Text   string `json:"text"`
	Todo   string `json:"todo,omitempty"`
}

func (f failure) Error() string { return f.Text }

func (f failure) body() any {
	return struct {
		Error failure `json:"error"`
	}{f}
}

func bad(code, text, todo string) error {
	return failure{Status: http.StatusBadRequest, Code: code, Text: text, Todo: todo}
}

// explain turns an error into what a caller is told; ok is false for a defect of ours.
func explain(err error) (f failure, ok bool) {
	var (
		own     failure
		invalid *config.Invalid
		refused *tool.Error
		tooBig  *http.MaxBytesError
	)
	switch {
	case errors.As(err, &own):
		return own, true
	case errors.As(err, &tooBig):
		return failure{http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("The request is larger than %d bytes. Nothing was done.", tooBig.Limit), ""}, true
	case errors.As(err, &invalid):
		return failure{http.StatusBadRequest, "invalid", invalid.Error() + ".", ""}, true
	case errors.As(err, &refused):
		return failure{http.StatusBadRequest, refused.Code, refused.Text, ""}, true
	case errors.Is(err, loop.ErrEmptyTask):
		return failure{http.StatusBadRequest, "empty-task", "The task is empty.", "Say what should be done."}, true
	case errors.Is(err, loop.ErrLongTask):
		return failure{http.StatusRequestEntityTooLarge, "long-task", fmt.Sprintf("The task is longer than %d bytes. Nothing was sent.", loop.MaxTask), "Put the long part into a file in the folder and name the file."}, true
	case errors.Is(err, loop.ErrIdle):
		return failure{http.StatusConflict, "idle", "Nothing is running in this thread.", ""}, true
	case errors.Is(err, gate.ErrAnswered):
		return failure{http.StatusConflict, "answered", "This question was answered already. The first answer holds.", ""}, true
	case errors.Is(err, gate.ErrGone):
		return failure{http.StatusConflict, "gone", "This question is gone: its action ended or was stopped. Nothing was run.", ""}, true
	case errors.Is(err, gate.ErrRule):
		return failure{http.StatusBadRequest, "bad-rule", err.Error() + ". The question stays open.", "Allow it once, or choose other words."}, true
	case errors.Is(err, link.ErrNoPairing):
		return failure{http.StatusNotFound, "no-pairing", "No browser is waiting with this code.", "Look at the code in the extension's popup; it changes when it has expired."}, true
	case errors.Is(err, config.ErrBadSecret):
		return failure{http.StatusBadRequest, "bad-secret", "The value was not kept: " + config.ErrBadSecret.Error() + ".", ""}, true
	case errors.Is(err, config.ErrUnknownSetting), errors.Is(err, config.ErrUnknownSecret):
		return failure{http.StatusNotFound, "not-found", err.Error() + ".", "`plexus config` lists the settings, `plexus secret` the secrets."}, true
	case errors.Is(err, store.ErrNotFound):
		return failure{http.StatusNotFound, "not-found", "There is nothing with this name or id.", "It may have been removed; `plexus threads` and `plexus approvals` list what there is."}, true
	case errors.Is(err, store.ErrConflict):
		return failure{http.StatusConflict, "conflict", "It changed in the meantime, so nothing was done.", "Look again and repeat if it still makes sense."}, true
	case errors.Is(err, store.ErrFull):
		return failure{http.StatusInsufficientStorage, "disk-full", "The disk is full. Nothing was lost, but this could not be kept.", "Make room and try again."}, true
	case errors.Is(err, context.DeadlineExceeded):
		return failure{http.StatusServiceUnavailable, "busy", "This takes longer than usual and goes on.", "Look again in a moment."}, true
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failure{http.StatusRequestTimeout, "slow", "The request took too long to arrive. Nothing was done.", ""}, true
	}
	return failure{http.StatusInternalServerError, "internal", "Plexus failed: " + err.Error() + ".", "Please report this with `plexus doctor`."}, false
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		// The caller has gone and reads nothing, or Plexus ends and the caller must not take silence for success.
		s.refuse(w, failure{http.StatusServiceUnavailable, "ending", "Plexus is shutting down. It is not known whether this was done.", "Look again when it runs."})
		return
	}
	f, ok := explain(err)
	if !ok {
		s.cfg.Log.Error("request failed", slog.String("route", r.Pattern), slog.Any("error", err))
	}
	s.refuse(w, f)
}

func (s *Server) refuse(w http.ResponseWriter, f failure) { encode(w, f.Status, f.body()) }

func encode(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the caller has gone
}

func ok(w http.ResponseWriter, v any) error {
	encode(w, http.StatusOK, v)
	return nil
}

// decode reads one JSON object with known fields only.
func decode(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return badJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("bad-json", "The request has more than one JSON value.", "")
	}
	return nil
}

func badJSON(err error) error {
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.EOF) {
		return bad("bad-json", "The request has no body.", "Send a JSON object.")
	}
	return bad("bad-json", "The request is not the JSON that this route takes: "+err.Error()+".", "")
}

// number reads a whole number from the query, none meaning otherwise.
func number(r *http.Request, name string, otherwise int64) (int64, error) {
	raw := r.URL.Query().Get(name)
	if raw == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("bad-query", fmt.Sprintf("%s=%q is not a whole number from 0 up.", name, raw), "")
	}
	return n, nil
}
