// Package restapi calls the REST APIs of the servers that keep repositories: GitHub, GitLab, Gitea.
//
// It owns what is the same for all of them: where a token may go, how long an answer is waited for,
// how large it may be, which requests are repeated, and what a refusal is called. Paths and objects
// belong to the packages that know a server. What a server answers is hostile.
package restapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// Address parses the address of an API, which then ends with a slash. Its error has no user and no
// password, which a token may be.
func Address(text string) (*url.URL, error) {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return nil, fmt.Errorf("names a user before %.200q, want https://HOST/PATH without one", text[at:])
	}
	api, err := url.Parse(strings.TrimRight(text, "/") + "/")
	if err != nil || api.Host == "" || (api.Scheme != "https" && api.Scheme != "http") || strings.ContainsAny(text, "?#") {
		return nil, fmt.Errorf("is %.200q, want https://HOST/PATH, or http", text)
	}
	return api, nil
}

// Client calls one API whose answers are JSON. It follows no redirects.
type Client struct {
	over    *Transport
	http    *http.Client
	secrets []string
}

// NewClient returns a client. The secrets are in no error. A token that others on the network can read
// is reported.
func NewClient(over Transport, secrets ...string) *Client {
	ready := over.Ready()
	if host := ready.API.Hostname(); ready.API.Scheme == "http" && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		ready.Log(fmt.Sprintf("The token is sent unencrypted: the address of %s begins with http, not https.", ready.Server))
	}
	return &Client{
		over: ready, secrets: secrets,
		http: &http.Client{Transport: ready, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Clock returns the transport's.
func (c *Client) Clock() Clock { return c.over.Clock }

// Refused is an answer that is no success.
type Refused struct {
	Server  string // "GitLab"
	Status  int
	Message string // the server's reason, "" if it gave none
}

func (r *Refused) Error() string {
	text := fmt.Sprintf("%s answered %d", r.Server, r.Status)
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// StatusOf returns the HTTP status of a refusal, 0 if the server did not answer.
func StatusOf(err error) int {
	var r *Refused
	if errors.As(err, &r) {
		return r.Status
	}
	return 0
}

// Uncertain reports whether a failed request may still have created something.
func Uncertain(ctx context.Context, err error) bool {
	status := StatusOf(err)
	return ctx.Err() == nil && (status == 0 || status >= 500)
}

// Call sends a request to a path below the API's address, each of whose elements is escaped here,
// and decodes its answer into a value; nil for none.
func (c *Client) Call(ctx context.Context, method string, path []string, query url.Values, send, into any) (http.Header, error) {
	var body io.Reader
	if send != nil {
		data, err := json.Marshal(send)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(data)
	}
	escaped := make([]string, len(path))
	for i, p := range path {
		escaped[i] = url.PathEscape(p)
	}
	address := c.over.API.String() + strings.Join(escaped, "/")
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, c.redacted(fmt.Errorf("ask %s: %w", c.over.Server, err))
	}
	req.Header.Set("Accept", "application/json")
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.redacted(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body) // which the transport has bounded
	if err != nil {
		return nil, c.redacted(err)
	}
	return resp.Header, c.decoded(resp, data, into)
}

// decoded decodes a successful answer.
func (c *Client) decoded(resp *http.Response, data []byte, into any) error {
	refused := func(message string) error {
		return &Refused{c.over.Server, resp.StatusCode, prose.Clip(prose.OneLine(c.redact(message)), maxMessage)}
	}
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		to := ""
		if at, err := resp.Location(); err == nil {
			to = " to " + at.Scheme + "://" + at.Host
		}
		return refused("a redirect" + to + ", which is not followed: the token is for " + c.over.API.Scheme + "://" + c.over.API.Host)
	case !isJSON(resp.Header):
		if resp.StatusCode == http.StatusNoContent || into == nil && resp.StatusCode < 300 {
			return nil
		}
		return refused(fmt.Sprintf("no JSON but %q: %s may not be the API's address, or a proxy or a login page is in between",
			prose.Short(resp.Header.Get("Content-Type")), c.over.API))
	case resp.StatusCode >= 300:
		return refused(messageIn(data))
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return refused("an unexpected answer: " + err.Error())
	}
	return nil
}

func isJSON(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

// maxMessage limits a server's reason, in characters.
const maxMessage = 200

// messageIn returns the reason in an error's JSON: GitLab's message is a text or an object, and of an
// OAuth error a description; Gitea's is a text.
func messageIn(data []byte) string {
	var answer struct {
		Message     json.RawMessage `json:"message"`
		Error       json.RawMessage `json:"error"`
		Description string          `json:"error_description"`
	}
	if json.Unmarshal(data, &answer) != nil {
		return ""
	}
	for _, raw := range []json.RawMessage{answer.Message, answer.Error} {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		if text == "" {
			continue
		}
		if answer.Description != "" {
			text += ": " + answer.Description
		}
		return text
	}
	return answer.Description
}

func (c *Client) redact(s string) string {
	for _, secret := range c.secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "***")
		}
	}
	return s
}

// redacted returns an error without secrets, which it wraps only if it has none.
func (c *Client) redacted(err error) error {
	if text := err.Error(); c.redact(text) != text {
		return errors.New(c.redact(text))
	}
	return err
}
