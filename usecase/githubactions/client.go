package githubactions

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-github/v57/github"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/restapi"
)

// DefaultAPI is GitHub's REST API unless GITHUB_API_URL names another.
const DefaultAPI = "https://api.github.com"

// ClientOptions configure the connection to GitHub.
type ClientOptions struct {
	API       string            // GITHUB_API_URL; "" is DefaultAPI
	GraphQL   string            // GITHUB_GRAPHQL_URL; "" is "graphql" below the API
	Token     string            // required
	Transport http.RoundTripper // nil is http.DefaultTransport
	Clock     restapi.Clock     // the zero value is the computer's
	Log       func(string)      // called for each retry, and for slow requests; may be nil
	Try       time.Duration     // the timeout of one try; 0: half a minute
}

// Client accesses one repository on GitHub.
type Client struct {
	rest        *github.Client
	graphQL     string
	owner, repo string
	clock       restapi.Clock
	login       string // the token's own, once it is known
}

// NewClient returns a client for the job's repository.
func NewClient(j Job, o ClientOptions) (*Client, error) {
	if o.API == "" {
		o.API = DefaultAPI
	}
	api, err := restapi.Address(o.API)
	if err != nil {
		return nil, fmt.Errorf("reach GitHub: GITHUB_API_URL %w", err)
	}
	if o.GraphQL == "" {
		o.GraphQL = api.String() + "graphql"
	}
	over := restapi.Transport{Server: "GitHub", API: api, Base: o.Transport, Clock: o.Clock, Log: o.Log, Try: o.Try}
	if o.Token != "" {
		over.Authorize = func(h http.Header) { h.Set("Authorization", "Bearer "+o.Token) }
	}
	ready := over.Ready()
	rest := github.NewClient(&http.Client{Transport: ready})
	rest.BaseURL = api
	return &Client{rest: rest, graphQL: o.GraphQL, owner: j.Owner, repo: j.Repo, clock: ready.Clock}, nil
}

// actionsBot is the account of a workflow's own token.
const actionsBot = "github-actions[bot]"

// Login returns the account of the token. GraphQL returns it for every kind of token; REST only for
// a person's. If neither does, the token is assumed to be the workflow's own: the author of what is
// created later corrects that.
func (c *Client) Login(ctx context.Context) string {
	if c.login != "" {
		return c.login
	}
	c.login = actionsBot
	if viewer, err := c.viewer(ctx); err == nil && viewer != "" {
		c.login = viewer
	} else if user, _, err := c.rest.Users.Get(ctx, ""); err == nil && user.GetLogin() != "" {
		c.login = user.GetLogin()
	}
	return c.login
}

func (c *Client) viewer(ctx context.Context) (string, error) {
	req, err := c.rest.NewRequest(http.MethodPost, c.graphQL, map[string]string{"query": "query { viewer { login } }"})
	if err != nil {
		return "", err
	}
	var answer struct {
		Data struct {
			Viewer struct{ Login string }
		}
	}
	if _, err := c.rest.Do(ctx, req, &answer); err != nil {
		return "", err
	}
	return answer.Data.Viewer.Login, nil
}

// reason returns shortly why GitHub refused something.
func reason(err error) string {
	var answer *github.ErrorResponse
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	switch {
	case errors.As(err, &primary), errors.As(err, &secondary):
		return "GitHub's rate limit is used up"
	case errors.As(err, &answer) && answer.Response != nil:
		return answered(answer.Response.StatusCode, answer.Message)
	}
	return prose.Clip(prose.OneLine(err.Error()), 200)
}

func answered(status int, message string) string {
	text := fmt.Sprintf("GitHub answered %d", status)
	switch status {
	case http.StatusUnauthorized:
		text += ", the token is not valid"
	case http.StatusForbidden:
		text += ", the token may not do this"
	case http.StatusNotFound:
		text += ", not found, or not for this token"
	case http.StatusTooManyRequests:
		text += ", too many requests"
	}
	if message != "" {
		text += ": " + prose.Clip(prose.OneLine(message), 120)
	}
	return text
}

// statusOf returns the HTTP status of a refusal, 0 if GitHub did not answer.
func statusOf(err error) int {
	var answer *github.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.Response.StatusCode
	}
	return 0
}

// uncertain reports whether a failed request may still have created something.
func uncertain(ctx context.Context, err error) bool {
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	if ctx.Err() != nil || errors.As(err, &primary) || errors.As(err, &secondary) {
		return false
	}
	status := statusOf(err)
	return status == 0 || status >= 500
}
