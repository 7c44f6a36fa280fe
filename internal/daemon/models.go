package daemon

import (
	"context"
	"errors"

	"plexus/internal/chatapi"
	"plexus/internal/config"
	"plexus/internal/link"
	"plexus/internal/loop"
	"plexus/internal/plx"
	"plexus/internal/server"
)

// models tells what is set up for each model.
type models struct {
	settings *config.Settings
	secrets  *config.Secrets
	hub      *link.Hub
	practice bool
}

func (m models) limits(ctx context.Context) loop.Limits {
	return loop.Limits{
		Budget:   plx.Budget{Message: m.settings.Int(ctx, config.KeyMessageLimit), Result: m.settings.Int(ctx, config.KeyResultLimit)},
		Rounds:   m.settings.Int(ctx, config.KeyRounds),
		Watchdog: m.settings.Duration(ctx, config.KeyWatchdog),
	}
}

// consent reports whether the chat site may be driven.
func (m models) consent(ctx context.Context) bool {
	return m.practice || m.settings.Bool(ctx, config.KeyConsentChatGPT)
}

// endpoint is the API server as set now.
func (m models) endpoint(ctx context.Context) (chatapi.Endpoint, error) {
	key, err := m.secrets.Get(ctx, config.SecretAPIKey)
	if err != nil && !errors.Is(err, config.ErrNoSecret) {
		return chatapi.Endpoint{}, err
	}
	return chatapi.Endpoint{
		URL:   m.settings.Text(ctx, config.KeyAPIURL),
		Model: m.settings.Text(ctx, config.KeyAPIModel),
		Key:   key.Reveal(), // a local server needs none
		Idle:  m.settings.Duration(ctx, config.KeyAPIIdle),
	}, nil
}

func (m models) list(ctx context.Context) []server.ModelInfo {
	return []server.ModelInfo{m.chat(ctx), m.api(ctx)}
}

func (m models) chat(ctx context.Context) server.ModelInfo {
	info := server.ModelInfo{Name: "chat", Label: "Chat tab"}
	switch {
	case !m.consent(ctx):
		info.Why = "You have not agreed to drive the chat site yet."
	case len(m.hub.Peers()) == 0:
		info.Why = "No browser with the extension is connected."
	default:
		info.Ready = true
	}
	return info
}

func (m models) api(ctx context.Context) server.ModelInfo {
	info := server.ModelInfo{Name: "api", Label: "API model"}
	name := m.settings.Text(ctx, config.KeyAPIModel)
	switch {
	case m.settings.Text(ctx, config.KeyAPIURL) == "":
		info.Why = "The setting model.api.url is not set."
	case name == "":
		info.Why = "The setting model.api.model is not set."
	default:
		info.Ready, info.Label = true, name
	}
	return info
}
