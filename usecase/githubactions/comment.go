package githubactions

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v57/github"

	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/restapi"
	"github.com/apkgate/apkgate/usecase/thread"
)

// Comment puts the row into the configuration's comment on the pull request. If there is no comment
// yet, it creates one if create is set. head is the pull request's current head commit, "" if unknown.
func (c *Client) Comment(ctx context.Context, pull int, config string, row matrixcomment.Row, head string, create bool) (thread.Posted, error) {
	return thread.Post(ctx, conversation{c, pull}, row, thread.Options{
		Subject: fmt.Sprintf("pull request %d", pull), Config: config, Head: head, Create: create, Sleep: c.clock.Sleep,
	})
}

// conversation is the one on a pull request.
type conversation struct {
	*Client
	pull int
}

// Ours implements thread.Thread.
func (c conversation) Ours(ctx context.Context, config string) ([]thread.Comment, error) {
	login := c.Login(ctx)
	var ours []thread.Comment
	opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for range thread.MaxPages {
		page, resp, err := c.rest.Issues.ListComments(ctx, c.owner, c.repo, c.pull, opts)
		if err != nil {
			return nil, fmt.Errorf("list the comments of pull request %d: %w", c.pull, err)
		}
		for _, found := range page {
			board, ok := matrixcomment.Read(found.GetBody())
			if ok && board.Config == config && strings.EqualFold(found.GetUser().GetLogin(), login) {
				ours = append(ours, thread.Comment{ID: found.GetID(), URL: found.GetHTMLURL(), Board: board})
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return ours, nil
}

// Create implements thread.Thread. The answer names the token's account.
func (c conversation) Create(ctx context.Context, body string) error {
	made, _, err := c.rest.Issues.CreateComment(ctx, c.owner, c.repo, c.pull, &github.IssueComment{Body: &body})
	if err != nil && uncertain(ctx, err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("comment on pull request %d: %w", c.pull, err)
	}
	if login := made.GetUser().GetLogin(); login != "" {
		c.login = login
	}
	return nil
}

// Edit implements thread.Thread.
func (c conversation) Edit(ctx context.Context, id int64, body string) error {
	_, _, err := c.rest.Issues.EditComment(restapi.LookingAgain(ctx), c.owner, c.repo, id, &github.IssueComment{Body: &body})
	if err != nil && statusOf(err) != http.StatusNotFound { // deleted meanwhile: the next reading shows it
		return fmt.Errorf("update comment %d: %w", id, err)
	}
	return nil
}

// Delete implements thread.Thread.
func (c conversation) Delete(ctx context.Context, id int64) error {
	_, err := c.rest.Issues.DeleteComment(ctx, c.owner, c.repo, id)
	if err != nil && statusOf(err) != http.StatusNotFound { // another job was faster
		return fmt.Errorf("delete the second comment %d: %w", id, err)
	}
	return nil
}
