package githubactions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v57/github"

	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
)

const (
	maxPages  = 300 // of 100 comments; a comment is not searched beyond them
	maxRounds = 30  // of reading, writing, and reading again

	// settle is longer than a job takes from reading to writing.
	settle = 3 * time.Second
)

// Posted is the result of posting a comment.
type Posted struct {
	URL string
	// Newer is the stamp of the row that was kept instead, if it is of a newer run, or if a row
	// without a verdict would have replaced one with it.
	Newer *matrixcomment.Stamp
	// Namesakes reports that another job of the same run has the same name.
	Namesakes bool
}

// Comment puts the row into the configuration's comment on the pull request: replacing the row of
// the same leg if there is one. If there is no comment yet, it creates one if create is set. head
// is the pull request's current head commit, "" if unknown.
//
// A comment is ours if its first line has our stamp and the token's own account wrote it; anybody
// can copy a stamp. GitHub can neither create a comment only if none exists nor edit one only if it
// is unchanged. So Comment reads again a moment after each write, until exactly one comment exists
// and has the row: of several comments, which concurrent jobs may have created, all jobs keep the
// same one, with the rows of all, and a row that a concurrent job overwrote is written again.
func (c *Client) Comment(ctx context.Context, pull int, config string, row matrixcomment.Row, head string, create bool) (Posted, error) {
	row = row.Signed()
	waits := 0
	for round := range maxRounds {
		ours, err := c.comments(ctx, pull, config, head)
		if err != nil || len(ours) == 0 && !create {
			return Posted{}, err
		}
		posted, body, err := merge(ours, config, row, head)
		switch {
		case err != nil:
			return Posted{}, fmt.Errorf("comment on pull request %d: %w", pull, err)
		case len(ours) == 0:
			err = c.createComment(ctx, pull, body)
		case body != "":
			err = c.editComment(ctx, ours[0].id, body)
		}
		if err == nil { // what is deleted is in the one that stays
			err = c.deleteAll(ctx, ours[min(1, len(ours)):])
		}
		switch {
		case errors.Is(err, errWaited) && waits < maxTries: // another one may be there by now
			waits++
			continue
		case err != nil:
			return Posted{}, err
		case len(ours) == 1 && body == "":
			return posted, nil
		}
		if err := c.clock.Sleep(ctx, settle+c.apart(round)); err != nil {
			return Posted{}, err
		}
	}
	return Posted{}, fmt.Errorf("comment on pull request %d: other jobs keep writing the same comment", pull)
}

// apart desynchronizes jobs that write at the same time.
func (c *Client) apart(round int) time.Duration {
	if round == 0 {
		return 0
	}
	return time.Duration(rand.Int64N(int64(settle)))
}

// merge adds the row to what our comments contain; body is "" if the first of them needs no change.
func merge(ours []comment, config string, row matrixcomment.Row, head string) (posted Posted, body string, err error) {
	boards := []matrixcomment.Board{{Config: config}}
	for _, c := range ours {
		boards = append(boards, c.board)
	}
	all := matrixcomment.Joined(boards[min(1, len(ours)):], head)
	merged, stays := all.With(row, head)
	posted = Posted{Newer: stays, Namesakes: merged.Namesakes(row)}
	if len(ours) > 0 {
		posted.URL = ours[0].url
		if ours[0].board.Says(merged) {
			return posted, "", nil
		}
	}
	body, err = merged.Body()
	return posted, body, err
}

// comment is one with our stamp and by our author.
type comment struct {
	id    int64
	url   string
	board matrixcomment.Board
}

// comments returns ours for a configuration, the oldest first.
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
			board, ok := matrixcomment.Read(found.GetBody())
			if ok && board.Config == config && strings.EqualFold(found.GetUser().GetLogin(), login) {
				ours = append(ours, comment{found.GetID(), found.GetHTMLURL(), board})
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return ours, nil
}

// createComment creates a comment. If it is unknown whether it did, the next reading shows it. The
// answer names the token's account.
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

// editComment overwrites a comment. If GitHub asked to wait first, it returns errWaited afterwards:
// the new text was derived from what may have changed since.
func (c *Client) editComment(ctx context.Context, id int64, body string) error {
	_, _, err := c.rest.Issues.EditComment(lookingAgain(ctx), c.owner, c.repo, id, &github.IssueComment{Body: &body})
	if err != nil && statusOf(err) != http.StatusNotFound { // deleted meanwhile: the next reading shows it
		return fmt.Errorf("update comment %d: %w", id, err)
	}
	return nil
}

func (c *Client) deleteAll(ctx context.Context, extra []comment) error {
	for _, e := range extra {
		if err := c.deleteComment(ctx, e.id); err != nil {
			return err
		}
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
