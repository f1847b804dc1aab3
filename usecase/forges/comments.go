package forges

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/usecase/restapi"
)

// Comments writes the comments of one conversation, as GitLab and Gitea both let one do it.
type Comments struct {
	API     *restapi.Client
	Noun    string                   // "note"
	Subject string                   // "merge request 7"
	All     []string                 // the path of all comments
	One     func(id string) []string // the path of one
	Method  string                   // by which one is changed
	me      int64                    // the account of the token, once it is known
}

// body is the body of a request.
type body struct {
	Body string `json:"body"`
}

// Me returns the token's account: comments are told apart by it, since anybody may copy a stamp or
// take a name. A workflow's token at Gitea has an account below 0.
func (c *Comments) Me(ctx context.Context) (int64, error) {
	if c.me == 0 {
		var account struct {
			ID int64 `json:"id"`
		}
		if _, err := c.API.Call(ctx, http.MethodGet, []string{"user"}, nil, nil, &account); err != nil {
			return 0, fmt.Errorf("read the token's account: %w", err)
		}
		if account.ID == 0 {
			return 0, errors.New("read the token's account: the server names none")
		}
		c.me = account.ID
	}
	return c.me, nil
}

// Create implements thread.Thread.
func (c *Comments) Create(ctx context.Context, text string) error {
	_, err := c.API.Call(ctx, http.MethodPost, c.All, nil, body{Safe(text)}, nil)
	if err != nil && !restapi.Uncertain(ctx, err) {
		return fmt.Errorf("write a %s on %s: %w", c.Noun, c.Subject, err)
	}
	return nil
}

// Edit implements thread.Thread.
func (c *Comments) Edit(ctx context.Context, id int64, text string) error {
	_, err := c.API.Call(restapi.LookingAgain(ctx), c.Method, c.One(strconv.FormatInt(id, 10)), nil, body{Safe(text)}, nil)
	if err != nil && restapi.StatusOf(err) != http.StatusNotFound { // deleted meanwhile: the next reading shows it
		return fmt.Errorf("update %s %d: %w", c.Noun, id, err)
	}
	return nil
}

// Delete implements thread.Thread.
func (c *Comments) Delete(ctx context.Context, id int64) error {
	_, err := c.API.Call(ctx, http.MethodDelete, c.One(strconv.FormatInt(id, 10)), nil, nil, nil)
	if err != nil && restapi.StatusOf(err) != http.StatusNotFound { // another job was faster
		return fmt.Errorf("delete the second %s %d: %w", c.Noun, id, err)
	}
	return nil
}

// tries is how often a status is sent at most: to set it again has the same effect.
const tries = 3

// SendStatus sends a commit's status, and again if it is unknown whether it was set, or after an
// answer with the HTTP status busy; 0 for none.
func SendStatus(ctx context.Context, api *restapi.Client, path []string, status any, busy int) error {
	for try := 1; ; try++ {
		_, err := api.Call(ctx, http.MethodPost, path, nil, status, nil)
		if err == nil || try == tries || !restapi.Uncertain(ctx, err) && (busy == 0 || restapi.StatusOf(err) != busy) {
			return err
		}
		if err := api.Clock().Sleep(ctx, time.Second<<try); err != nil {
			return err
		}
	}
}
