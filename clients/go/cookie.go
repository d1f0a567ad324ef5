package causeway

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The cookies. A token is one cookie, or several if it is long, as browsers keep
// 4,096 bytes of each:
//
//	causeway-<id>-<part>-<parts> = <token, percent-encoded>
//
// The id is the start of the token's SHA-256. So two responses that cross each
// other (two tabs, two calls of a script) do not overwrite each other's token:
// the browser keeps both, the next request hands both in, and gets one back in
// their place. It also tells whether all parts are there. All helpers in
// clients/ use this format; an application may mix them.
const (
	cookiePrefix = "causeway-"
	partSize     = 3500
	// maxParts keeps all cookies within the 8 KB that web servers take as one header line.
	maxParts = 2
	// maxCookies is how many cookies of a request are looked at, more than 8 KB hold;
	// of still more the newest, which browsers send last.
	maxCookies = 128
	// maxEnded is how many a response ends, so that its headers stay small; the next ends more.
	maxEnded = 32
	idLength = 12
)

func tokenID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])[:idLength]
}

// escaped is a token as cookie values may be: PHP would take a plus for a space.
func escaped(token string) string {
	return strings.ReplaceAll(url.PathEscape(token), "+", "%2B")
}

// encode gives the cookies' names and values of a token, nil if it is too long.
func encode(token string) [][2]string {
	pieces := split(escaped(token))
	if len(pieces) > maxParts {
		return nil
	}
	list := make([][2]string, len(pieces))
	for i, piece := range pieces {
		list[i] = [2]string{fmt.Sprintf("%s%s-%d-%d", cookiePrefix, tokenID(token), i+1, len(pieces)), piece}
	}
	return list
}

// split cuts a text into pieces that can be decoded each by itself, as PHP does.
func split(text string) []string {
	var pieces []string
	for len(text) > partSize {
		n := partSize
		if i := strings.LastIndexByte(text[:n], '%'); i > n-3 {
			n = i
		}
		pieces, text = append(pieces, text[:n]), text[n:]
	}
	return append(pieces, text)
}

// parsed is what a request's cookies hold.
type parsed struct {
	tokens []string
	names  []string // of all cookies that are ours, good or not
	broken bool     // some of them are no token
}

func parseCookies(cookies []*http.Cookie) parsed {
	var p parsed
	cookies = slices.DeleteFunc(cookies, func(c *http.Cookie) bool { return !strings.HasPrefix(c.Name, cookiePrefix) })
	var ids []string
	parts := map[string][]string{} // by id
	for _, c := range cookies[max(0, len(cookies)-maxCookies):] {
		p.names = append(p.names, c.Name)
		id, i, n, ok := parseName(c.Name)
		if !ok {
			p.broken = true
			continue
		}
		if parts[id] == nil {
			ids = append(ids, id)
			parts[id] = make([]string, n)
		}
		if len(parts[id]) == n {
			parts[id][i-1] = c.Value
		}
	}
	for _, id := range ids {
		token, err := url.PathUnescape(strings.Join(parts[id], ""))
		if err != nil || tokenID(token) != id {
			p.broken = true
			continue
		}
		p.tokens = append(p.tokens, token)
	}
	return p
}

func parseName(name string) (id string, i, n int, ok bool) {
	f := strings.Split(strings.TrimPrefix(name, cookiePrefix), "-")
	if len(f) != 3 || len(f[0]) != idLength {
		return "", 0, 0, false
	}
	i, err1 := strconv.Atoi(f[1])
	n, err2 := strconv.Atoi(f[2])
	return f[0], i, n, err1 == nil && err2 == nil && 1 <= i && i <= n && n <= maxParts
}
