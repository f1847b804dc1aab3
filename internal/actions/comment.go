package actions

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v57/github"
)

const (
	maxPages  = 300 // of 100 comments; beyond them a comment is not looked for
	maxRounds = 5   // of looking, writing, and looking again

	// settle is longer than a job takes from looking to writing.
	settle = 3 * time.Second
)

// Posted is what became of a comment.
type Posted struct {
	URL string
	// Newer is the stamp of the comment that stays, where it is a newer run's.
	Newer *Stamp
}

// Comment puts the text on the pull request as the one comment of the stamp's
// configuration: over the one that is there, or as a new one. head is the pull
// request's head commit as it is now, "" where it is not known.
//
// A comment is ours if its first line bears our stamp and the token's own
// account wrote it; anybody can copy a stamp. GitHub has no "create unless it is
// there" and no "edit unless it has changed", so it looks again a moment after
// each write, until one comment stands and says the newest: of several, which
// jobs at the same time may have created, all of them keep the same one, and what
// an older job wrote over a newer result is written over again.
func (c *Client) Comment(ctx context.Context, pull int, stamp Stamp, text, head string) (Posted, error) {
	body, stamp := stamp.over(text)
	for range maxRounds {
		ours, err := c.comments(ctx, pull, stamp.Config, head)
		if err != nil {
			return Posted{}, err
		}
		for _, extra := range ours[min(1, len(ours)):] {
			if err := c.deleteComment(ctx, extra.id); err != nil {
				return Posted{}, err
			}
		}
		switch {
		case len(ours) == 0:
			err = c.createComment(ctx, pull, body)
		case ours[0].stamp == stamp:
			return Posted{URL: ours[0].url}, nil
		case ours[0].stamp.compare(stamp, head) > 0:
			return Posted{URL: ours[0].url, Newer: &ours[0].stamp}, nil
		default:
			err = c.editComment(ctx, ours[0].id, body)
		}
		if err == nil {
			err = c.clock.Sleep(ctx, settle)
		}
		if err != nil {
			return Posted{}, err
		}
	}
	return Posted{}, fmt.Errorf("comment on pull request %d: another job keeps writing the same comment; give each configuration its own name", pull)
}

// comment is one that bears our stamp and is by our author.
type comment struct {
	id    int64
	url   string
	stamp Stamp
}

// comments are ours for a configuration, the newest run's first, and of equal
// ones the first that was created.
func (c *Client) comments(ctx context.Context, pull int, config, head string) ([]comment, error) {
	login := c.Login(ctx)
	var ours []comment
	opts := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	for range maxPages {
		page, resp, err := c.rest.Issues.ListComments(ctx, c.owner, c.repo, pull, opts)
		if err != nil {
			return nil, fmt.Errorf("list the comments of pull request %d: %w", pull, err)
		}
		for _, found := range page {
			stamp, ok := readStamp(found.GetBody())
			if ok && stamp.Config == config && strings.EqualFold(found.GetUser().GetLogin(), login) {
				ours = append(ours, comment{found.GetID(), found.GetHTMLURL(), stamp})
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	slices.SortStableFunc(ours, func(a, b comment) int {
		if order := b.stamp.compare(a.stamp, head); order != 0 {
			return order
		}
		return int(a.id - b.id)
	})
	return ours, nil
}

// createComment creates one, unless nobody knows whether it did: then the next
// look tells. The answer says who the token speaks as.
func (c *Client) createComment(ctx context.Context, pull int, body string) error {
	made, _, err := c.rest.Issues.CreateComment(ctx, c.owner, c.repo, pull, &github.IssueComment{Body: &body})
	if err != nil && uncertain(ctx, err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("comment on pull request %d: %w", pull, err)
	}
	if login := made.GetUser().GetLogin(); login != "" {
		c.login = login
	}
	return nil
}

func (c *Client) editComment(ctx context.Context, id int64, body string) error {
	_, _, err := c.rest.Issues.EditComment(ctx, c.owner, c.repo, id, &github.IssueComment{Body: &body})
	if err != nil && statusOf(err) != http.StatusNotFound { // deleted meanwhile: the next look tells
		return fmt.Errorf("update comment %d: %w", id, err)
	}
	return nil
}

func (c *Client) deleteComment(ctx context.Context, id int64) error {
	_, err := c.rest.Issues.DeleteComment(ctx, c.owner, c.repo, id)
	if err != nil && statusOf(err) != http.StatusNotFound { // another job was faster
		return fmt.Errorf("delete the second comment %d: %w", id, err)
	}
	return nil
}
