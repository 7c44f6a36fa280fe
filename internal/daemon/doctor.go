package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"plexus/internal/config"
	"plexus/internal/link"
	"plexus/internal/server"
	"plexus/internal/store"
)

// doctor looks at each hop between a person and the model.
type doctor struct {
	cfg     Config
	state   config.State
	store   *store.Store
	hub     *link.Hub
	models  models
	secrets *config.Secrets
}

func pass(name, text string) server.Check {
	return server.Check{Name: name, State: "pass", Text: text}
}

func fail(name, text, todo string) server.Check {
	return server.Check{Name: name, State: "fail", Text: text, Todo: todo}
}

func skipped(name, text string) server.Check {
	return server.Check{Name: name, State: "skipped", Text: text}
}

func (d doctor) checks(ctx context.Context) []server.Check {
	return []server.Check{
		pass("binary", "Plexus "+d.cfg.Version),
		d.storeCheck(ctx),
		d.portCheck(),
		pass("secrets", "Kept in "+d.secrets.Place()+"."),
		d.folderCheck(ctx),
		d.extensionCheck(),
		d.browserCheck(),
		d.consentCheck(ctx),
		d.modelCheck(ctx),
	}
}

func (d doctor) storeCheck(ctx context.Context) server.Check {
	if aside := d.store.Aside(); aside != "" {
		return fail("store", "The database was damaged. It was set aside as "+aside+" and a new one was begun.", "Keep that file if you want its threads back.")
	}
	threads, err := d.store.Threads(ctx, store.ThreadFilter{Limit: 1})
	if err != nil {
		return fail("store", "The database cannot be read: "+err.Error()+".", "Look at the disk, then start Plexus again.")
	}
	if len(threads) == 0 {
		return pass("store", d.cfg.Paths.DB+" (no threads yet)")
	}
	return pass("store", d.cfg.Paths.DB)
}

func (d doctor) portCheck() server.Check {
	for _, p := range d.cfg.Ports {
		if p == d.state.Port || p == 0 {
			return pass("port", d.state.URL())
		}
	}
	return pass("port", fmt.Sprintf("%s (the usual ports were taken)", d.state.URL()))
}

func (d doctor) folderCheck(ctx context.Context) server.Check {
	folders, err := d.store.Folders(ctx)
	switch {
	case err != nil:
		return fail("folders", "They cannot be read: "+err.Error()+".", "")
	case len(folders) == 0:
		return fail("folders", "No folder is approved, so nothing can be read or run.", "Run `plexus folders add DIR`, or approve one in the UI.")
	}
	for _, f := range folders {
		if info, err := os.Stat(f.Path); err != nil || !info.IsDir() {
			return fail("folders", "The folder "+f.Path+" is not there.", "Bring it back, or run `plexus folders remove "+f.Name+"`.")
		}
	}
	return pass("folders", fmt.Sprintf("%d approved", len(folders)))
}

func (d doctor) extensionCheck() server.Check {
	data, err := os.ReadFile(filepath.Join(d.cfg.Paths.Extension, "manifest.json"))
	if err != nil {
		return fail("extension files", "The extension was not written yet.", "Run `plexus extension` and load the folder that it names.")
	}
	var manifest struct {
		Version string `json:"version_name"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return fail("extension files", "The extension's manifest is damaged.", "Run `plexus extension` again.")
	}
	return pass("extension files", d.cfg.Paths.Extension)
}

func (d doctor) browserCheck() server.Check {
	if waiting := d.hub.Pairings(); len(waiting) > 0 {
		return fail("browser", "A browser waits to be paired with the code "+waiting[0].Code+".", "Compare the code with the extension's popup, then approve it in the UI or with `plexus extension pair CODE`.")
	}
	peers := d.hub.Peers()
	if len(peers) == 0 {
		return fail("browser", "No browser with the extension is connected.", "Load the extension and open the browser. The API model needs none.")
	}
	return pass("browser", fmt.Sprintf("%s, extension %s", peers[0].Label, peers[0].Version))
}

func (d doctor) consentCheck(ctx context.Context) server.Check {
	if d.models.consent(ctx) {
		return pass("consent", "The chat site may be driven.")
	}
	return skipped("consent", "The chat site is not driven before you agreed to it. The API model needs no consent.")
}

func (d doctor) modelCheck(ctx context.Context) server.Check {
	name := d.models.settings.Text(ctx, config.KeyModel)
	for _, m := range d.models.list(ctx) {
		if m.Name == name && m.Ready {
			return pass("model", m.Label)
		}
		if m.Name == name {
			return fail("model", m.Why, "`plexus consent` for the chat tab, `plexus config` for the API model; docs/models.md says more.")
		}
	}
	return fail("model", "There is no model "+name+".", "Run `plexus config set model.default api`.")
}
