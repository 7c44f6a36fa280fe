package link

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"
)

// Browser is the record of an extension in one browser profile that a person has approved.
type Browser struct {
	ID       string // made by the extension, stable per profile
	Label    string
	Version  string // of the extension when last seen
	Token    []byte // SHA-256 of its token; the token itself is not kept
	Created  time.Time
	LastSeen time.Time
}

// Browsers keeps the approved browsers.
type Browsers interface {
	// Browser returns the record with this id, false when there is none.
	Browser(ctx context.Context, id string) (Browser, bool, error)
	// SaveBrowser writes the record, replacing the one with its id.
	SaveBrowser(ctx context.Context, b Browser) error
	// TouchBrowser writes Label, Version and LastSeen of the record that has b's ID and Token. It reports false, and writes
	// nothing, when there is none: the approval was taken back.
	TouchBrowser(ctx context.Context, b Browser) (bool, error)
}

// newToken returns a fresh token of 256 random bits and the hash to keep.
func newToken() (token string, hash []byte) {
	raw := make([]byte, 32)
	rand.Read(raw) // never fails
	token = base64.RawURLEncoding.EncodeToString(raw)
	return token, hashToken(token)
}

func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Roles in a proof: each side proves with its own, so that none can be sent back.
const (
	rolePlexus  = "plexus"
	roleBrowser = "browser"
)

// proof is what a side that knows the token says to the two nonces of a
// connection to port; see Challenge.
func (b Browser) proof(role string, port int, hello, challenge string) string {
	mac := hmac.New(sha256.New, b.Token)
	fmt.Fprintf(mac, "%s %d %s %s", role, port, hello, challenge)
	return hex.EncodeToString(mac.Sum(nil))
}

// proves compares a proof in constant time. A record without a token proves nothing.
func proves(b Browser, proof, want string) bool {
	return len(b.Token) == sha256.Size && subtle.ConstantTimeCompare([]byte(proof), []byte(want)) == 1
}

// codeAlphabet has no two signs that look or sound alike.
const codeAlphabet = "ABCDEFGHJKMNPQRTUVWXYZ2346789"

// newCode returns a pairing code like "K7P-4MX".
func newCode() string {
	code := make([]byte, 0, 7)
	var b [1]byte
	for len(code) < 7 {
		if len(code) == 3 {
			code = append(code, '-')
		}
		rand.Read(b[:])
		// 29*8 = 232: a byte above is thrown away, so that every sign is as likely.
		if int(b[0]) < 8*len(codeAlphabet) {
			code = append(code, codeAlphabet[int(b[0])%len(codeAlphabet)])
		}
	}
	return string(code)
}
