// Package thread keeps one comment of apkgate's in the conversation on a pull request: created once,
// and updated in place by all jobs that have a part of it.
//
// No server can create a comment only if none exists, nor edit one only if it is unchanged. So what
// was written is read again a moment later, until exactly one comment exists and has the row. It
// owns that; reading and writing comments belongs to the packages that know a server, and their text
// to package matrixcomment.
package thread

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/apkgate/apkgate/usecase/githubactions/matrixcomment"
	"github.com/apkgate/apkgate/usecase/restapi"
)

// MaxPages is how many pages of 100 comments are searched.
const MaxPages = 300

const (
	maxRounds = 30 // of reading, writing, and reading again

	// settle is longer than a job takes from reading to writing.
	settle = 3 * time.Second
)

// Comment is one with our stamp and by our author.
type Comment struct {
	ID    int64
	URL   string
	Board matrixcomment.Board
}

// Thread is the conversation on one pull request. Anybody may write into it, and copy our stamp.
type Thread interface {
	// Ours returns the configuration's comments that have a stamp and that the token's own account
	// wrote, the oldest first.
	Ours(ctx context.Context, config string) ([]Comment, error)
	// Create creates a comment. It returns nil if it is unknown whether it did.
	Create(ctx context.Context, body string) error
	// Edit overwrites a comment. If the server asked to wait first, it returns restapi.ErrWaited
	// afterwards: the new text was derived from what may have changed since. One that was deleted
	// meanwhile is no error.
	Edit(ctx context.Context, id int64, body string) error
	// Delete deletes a comment; one that is not there is no error.
	Delete(ctx context.Context, id int64) error
}

// Options are what a row is posted with.
type Options struct {
	Subject string // "pull request 7", for errors
	Config  string // the configuration's name; each has its own comment
	Head    string // the pull request's current head commit, "" if unknown
	Create  bool   // create the comment if there is none yet
	Sleep   func(context.Context, time.Duration) error
}

// Posted is the result of posting a row.
type Posted struct {
	URL string
	// Newer is the stamp of the row that was kept instead, if it is of a newer run, or if a row
	// without a verdict would have replaced one with it.
	Newer *matrixcomment.Stamp
	// Namesakes reports that another job of the same run has the same name.
	Namesakes bool
}

// Post puts the row into the configuration's comment: replacing the row of the same leg if there is
// one. Of several comments, which concurrent jobs may have created, all jobs keep the same one, with
// the rows of all, and a row that a concurrent job overwrote is written again.
func Post(ctx context.Context, t Thread, row matrixcomment.Row, o Options) (Posted, error) {
	row = row.Signed()
	waits := 0
	for round := range maxRounds {
		ours, err := t.Ours(ctx, o.Config)
		if err != nil || len(ours) == 0 && !o.Create {
			return Posted{}, err
		}
		posted, body, err := merge(ours, row, o)
		switch {
		case err != nil:
			return Posted{}, fmt.Errorf("comment on %s: %w", o.Subject, err)
		case len(ours) == 0:
			err = t.Create(ctx, body)
		case body != "":
			err = t.Edit(ctx, ours[0].ID, body)
		}
		if err == nil { // what is deleted is in the one that stays
			err = deleteAll(ctx, t, ours[min(1, len(ours)):])
		}
		switch {
		case errors.Is(err, restapi.ErrWaited) && waits < restapi.MaxTries: // another one may be there by now
			waits++
			continue
		case err != nil:
			return Posted{}, err
		case len(ours) == 1 && body == "":
			return posted, nil
		}
		if err := o.Sleep(ctx, settle+apart(round)); err != nil {
			return Posted{}, err
		}
	}
	return Posted{}, fmt.Errorf("comment on %s: other jobs keep writing the same comment", o.Subject)
}

// apart desynchronizes jobs that write at the same time.
func apart(round int) time.Duration {
	if round == 0 {
		return 0
	}
	return time.Duration(rand.Int64N(int64(settle)))
}

// merge adds the row to what our comments contain; body is "" if the first of them needs no change.
func merge(ours []Comment, row matrixcomment.Row, o Options) (posted Posted, body string, err error) {
	boards := []matrixcomment.Board{{Config: o.Config}}
	for _, c := range ours {
		boards = append(boards, c.Board)
	}
	all := matrixcomment.Joined(boards[min(1, len(ours)):], o.Head)
	merged, stays := all.With(row, o.Head)
	posted = Posted{Newer: stays, Namesakes: merged.Namesakes(row)}
	if len(ours) > 0 {
		posted.URL = ours[0].URL
		if ours[0].Board.Says(merged) {
			return posted, "", nil
		}
	}
	body, err = merged.Body()
	return posted, body, err
}

func deleteAll(ctx context.Context, t Thread, extra []Comment) error {
	for _, e := range extra {
		if err := t.Delete(ctx, e.ID); err != nil {
			return err
		}
	}
	return nil
}
