package chattab

import (
	"net/url"
	"strings"

	"plexus/internal/store"
)

// Site is what is known here of a chat site. What its pages look like is known to the extension alone.
type Site struct {
	Name   string // store.Chat.Site
	Origin string
	sends  []string // paths that a message is posted to
}

var chatGPT = Site{
	Name:   "chatgpt",
	Origin: "https://chatgpt.com",
	sends:  []string{"/backend-api/f/conversation", "/backend-api/conversation"},
}

// home is where a new chat without a project starts.
func (s Site) home() string { return s.Origin + "/" }

// chatURL is the address of a chat; the site redirects it into the chat's project.
func (s Site) chatURL(conversation string) string { return s.Origin + "/c/" + conversation }

// chatOf returns the id of the chat that an address shows, "" for none; passage is an address that the site gives to a
// new chat for a moment, before its real one.
func (s Site) chatOf(address string) (id string, passage bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://"+u.Host != s.Origin {
		return "", false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	switch {
	case len(parts) == 2 && parts[0] == "c":
		id = parts[1]
	case len(parts) == 4 && parts[0] == "g" && parts[2] == "c":
		id = parts[3]
	}
	if strings.Contains(id, ":") {
		return "", true
	}
	return id, false
}

// isSend reports whether a request to address carries a message.
func (s Site) isSend(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	for _, p := range s.sends {
		if u.Path == p {
			return true
		}
	}
	return false
}

// projectName is what the project of a folder is called at the site, so that one folder's memory stays out of another's.
func projectName(f store.Folder) string { return "plx-" + f.Name }
