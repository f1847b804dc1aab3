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

	"github.com/apkgate/apkgate/usecase/githubactions/board"
)

const (
	maxPages  = 300 // of 100 comments; beyond them a comment is not looked for
	maxRounds = 30  // of looking, writing, and looking again

	// settle is longer than a job takes from looking to writing.
	settle = 3 * time.Second
)

// Posted is what became of a comment.
type Posted struct {
	URL string
	// Newer is the stamp of what stays in the row's place, where it is a newer run's,
	// or where a row without a verdict would have replaced one with it.
	Newer *board.Stamp
	// Namesakes says that another job of the same run bears the same name.
	Namesakes bool
}

// Comment puts the row into the one comment on the pull request that belongs to
// the configuration: over the row of the same leg that is there, or as a new one;
// where there is no comment yet, into a new one, if create is set. head is the
// pull request's head commit as it is now, "" where it is not known.
//
// A comment is ours if its first line bears our stamp and the token's own
// account wrote it; anybody can copy a stamp. GitHub has no "create unless it is
// there" and no "edit unless it has changed", so it looks again a moment after
// each write, until one comment stands and has the row: of several, which jobs at
// the same time may have created, all of them keep the same one, with the rows of
// all, and a row that a job at the same time wrote over is written again.
func (c *Client) Comment(ctx context.Context, pull int, config string, row board.Row, head string, create bool) (Posted, error) {
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
		case errors.Is(err, errWaited) && waits < maxTries: // another one may stand there by now
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

// apart lets jobs that write at the same time get out of step.
func (c *Client) apart(round int) time.Duration {
	if round == 0 {
		return 0
	}
	return time.Duration(rand.Int64N(int64(settle)))
}

// merge is the comment with the row, of what our comments say; "" where the first
// of them says all that there is to say.
func merge(ours []comment, config string, row board.Row, head string) (posted Posted, body string, err error) {
	boards := []board.Board{{Config: config}}
	for _, c := range ours {
		boards = append(boards, c.board)
	}
	all := board.Joined(boards[min(1, len(ours)):], head)
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

// comment is one that bears our stamp and is by our author.
type comment struct {
	id    int64
	url   string
	board board.Board
}

// comments are ours for a configuration, the first that was created first.
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
			board, ok := board.Read(found.GetBody())
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

// editComment writes over a comment. Where GitHub asks to wait first, it is errWaited
// afterwards: what is to be written was made of what stood there before.
func (c *Client) editComment(ctx context.Context, id int64, body string) error {
	_, _, err := c.rest.Issues.EditComment(lookingAgain(ctx), c.owner, c.repo, id, &github.IssueComment{Body: &body})
	if err != nil && statusOf(err) != http.StatusNotFound { // deleted meanwhile: the next look tells
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
