package daemon

import (
	"context"
	"errors"

	"plexus/internal/link"
	"plexus/internal/store"
)

// browsers keeps the link's approved browsers in the store.
type browsers struct{ store *store.Store }

var _ link.Browsers = browsers{}

func (b browsers) Browser(ctx context.Context, id string) (link.Browser, bool, error) {
	row, err := b.store.Browser(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return link.Browser{}, false, nil
	}
	return link.Browser(row), err == nil, err
}

func (b browsers) SaveBrowser(ctx context.Context, row link.Browser) error {
	_, err := b.store.SaveBrowser(ctx, store.Browser(row))
	return err
}

func (b browsers) TouchBrowser(ctx context.Context, row link.Browser) (bool, error) {
	return b.store.TouchBrowser(ctx, store.Browser(row))
}
