package chattab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/store"
)

// prepare brings the thread's tab to where the message belongs, and writes down where that is.
func (s *session) prepare(ctx context.Context) error {
	if s.chat.Provider != "" {
		return s.openTab(ctx, s.chat.URL)
	}
	if s.chat.URL != "" {
		// An earlier attempt has chosen the place already.
		return s.openTab(ctx, s.chat.URL)
	}
	if err := s.openTab(ctx, s.m.site.home()); err != nil {
		return err
	}
	where := store.Chat{ID: s.chat.ID, URL: s.m.site.home()}
	project, err := s.ensureProject(ctx)
	if err != nil {
		return err
	}
	if project.URL != "" {
		where.URL, where.Project = project.URL, project.Project
		if err := s.openTab(ctx, project.URL); err != nil {
			return err
		}
	}
	s.rebind(where)
	return s.err
}

// openTab makes sure that the thread has a tab at address.
func (s *session) openTab(ctx context.Context, address string) error {
	if s.tab == 0 {
		s.status("Opening a tab in " + s.peer.Info().Label)
	}
	var res link.TabResult
	if err := s.command(ctx, s.m.timing.open, link.OpenTab{Thread: s.req.Thread.ID, URL: address}, &res); err != nil {
		return err
	}
	s.tab = res.Tab
	return nil
}

// ensureProject finds or makes the folder's project. Without one the chat goes on, and the person is told.
func (s *session) ensureProject(ctx context.Context) (link.ProjectResult, error) {
	name := projectName(s.req.Folder)
	s.status("Looking for the project " + name)
	known := s.recall(ctx)
	var res link.ProjectResult
	err := s.command(ctx, s.m.timing.project,
		link.EnsureProject{Thread: s.req.Thread.ID, Tab: s.tab, Name: name, Project: known}, &res)
	var refused *link.ResponseError
	switch {
	case err == nil:
		s.remember(ctx, known, res.Project)
		return res, nil
	case errors.As(err, &refused) && !retryable(refused.Code) && noticeCodes[refused.Code] == "", errors.Is(err, errSlow):
		s.log.Info("no project", slog.String("error", err.Error()))
		s.notice(store.Notice{Code: "no-project", Tone: "warn",
			Text: fmt.Sprintf("The project %s could not be made at the chat site. The chat goes on without it, so its memory is shared with your other chats.", name),
			Todo: "Nothing, or make the project by hand and start a new thread."})
		return link.ProjectResult{}, nil
	}
	return link.ProjectResult{}, err
}

func (s *session) projectKey() string {
	return "site." + s.m.site.Name + ".project." + s.req.Folder.ID
}

// recall returns the id of the folder's project, "" when none is known: names are not unique, ids are.
func (s *session) recall(ctx context.Context) string {
	if s.m.cfg.Memory == nil {
		return ""
	}
	id, _, err := s.m.cfg.Memory.Setting(ctx, s.projectKey())
	if err != nil {
		s.log.Warn("project not recalled", slog.Any("error", err))
	}
	return id
}

func (s *session) remember(ctx context.Context, known, id string) {
	if s.m.cfg.Memory == nil || id == "" || id == known {
		return
	}
	if err := s.m.cfg.Memory.SetSetting(ctx, s.projectKey(), id); err != nil {
		s.log.Warn("project not remembered", slog.Any("error", err))
	}
}

// retryable reports failures of the extension that another try may not meet again.
func retryable(code string) bool {
	switch code {
	case "no-tab", "tab-busy", "page-lost", "composer-not-ready", "insert-failed", "attachment", "send-disabled", "timeout", "no-go", "no-composer", "unknown-turn":
		return true
	}
	return false
}

// asFault is what a person is told of an error before the message was on its way.
func asFault(err error) error {
	var refused *link.ResponseError
	switch {
	case errors.As(err, &refused):
		return unsent(responseFault(refused))
	case errors.Is(err, errSlow):
		f := fault(loop.FaultInternal, "")
		f.Text = "The browser did not answer in time."
		return unsent(f)
	case errors.Is(err, link.ErrClosed):
		return unsent(fault(loop.FaultLinkLost, ""))
	}
	return err
}
