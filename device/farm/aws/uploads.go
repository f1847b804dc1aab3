package aws

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
	"github.com/apkgate/apkgate/device/lab/lease"
	"github.com/apkgate/apkgate/internal/prose"
)

// need is a file that a run needs: its key in the lease, its UploadType in the service's
// model, and the suffix of its name.
type need struct{ note, upload, end string }

var app, test, testSpec = need{noteApp, "ANDROID_APP", "app.apk"}, need{noteTest, "INSTRUMENTATION_TEST_PACKAGE", "test.apk"}, need{noteSpec, "INSTRUMENTATION_TEST_SPEC", "spec.yml"}

// part is a needed file with its content: a file or a text.
type part struct {
	need
	path, text string
}

func parts(o farm.Order) []part {
	return []part{{app, o.App, ""}, {test, o.Test, ""}, {testSpec, "", spec(o)}}
}

func (p part) String() string { return cmp.Or(p.path, "the test spec") }

// upload is a file that is uploaded or being uploaded. It exists as long as leases hold it:
// the rounds of a comparison share their files.
type upload struct {
	project, key string
	users        int
	done         chan struct{} // closed once the upload has succeeded or failed
	arn          string
	err          error
}

// provide makes sure that a part is uploaded, and notes it. The first caller that needs it
// uploads it.
func (f *Farm) provide(ctx context.Context, held *lease.Held, p part) (string, error) {
	f.mu.Lock()
	key := p.upload + "\x00" + p.path + "\x00" + p.text
	u, there := f.uploads[key]
	if !there {
		u = &upload{project: f.project, key: key, done: make(chan struct{})}
		f.uploads[key] = u
	}
	u.users++
	f.held[held.ID()] = append(f.held[held.ID()], u)
	f.mu.Unlock()
	if !there {
		u.err = f.create(ctx, held, p, u)
		if u.err != nil { // the next caller tries again
			f.mu.Lock()
			delete(f.uploads, key)
			f.mu.Unlock()
		}
		close(u.done)
		return u.arn, u.err
	}
	select {
	case <-u.done:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if u.err != nil {
		return "", u.err
	}
	return u.arn, held.Note(p.note, u.arn)
}

// create creates an upload, sends the file, and waits until the farm has processed it.
func (f *Farm) create(ctx context.Context, held *lease.Held, p part, u *upload) error {
	if err := held.Note(p.note, asked); err != nil {
		return err
	}
	var answer struct{ Upload struct{ ARN, URL string } }
	// The answer is waited for even after a cancellation.
	err := f.ask(context.WithoutCancel(ctx), f.project, "create-upload", map[string]any{
		"projectArn": f.project, "name": held.ID() + "-" + p.end, "type": p.upload, "contentType": contentType,
	}, &answer, "")
	if errors.Is(err, farm.ErrRefused) {
		return errors.Join(err, held.Note(p.note, ""))
	}
	if err == nil && !arn.MatchString(answer.Upload.ARN) {
		err = errors.New("the service returned no upload")
	}
	if err != nil {
		return err
	}
	u.arn = answer.Upload.ARN
	if err := held.Note(p.note, u.arn); err != nil {
		return err
	}
	if err := f.send(ctx, p, answer.Upload.URL); err != nil {
		return fmt.Errorf("upload %v: %w", p, err)
	}
	return f.processed(ctx, p, u.arn)
}

// contentType is part of the signed URL, and must be sent with the file.
const contentType = "application/octet-stream"

// mostAnswer limits the storage's answer, in bytes.
const mostAnswer = 64 << 10

// send uploads a file to a signed URL, and retries temporary failures.
func (f *Farm) send(ctx context.Context, p part, to string) error {
	const tries = 3
	for try := 1; ; try++ {
		err := put(ctx, p, to)
		if err == nil || ctx.Err() != nil || try == tries || errors.Is(err, farm.ErrRefused) {
			return err
		}
		if err := f.computer.Pause(ctx, apart); err != nil {
			return err
		}
	}
}

func put(ctx context.Context, p part, to string) error {
	var body io.Reader = strings.NewReader(p.text)
	size := int64(len(p.text))
	if p.path != "" {
		file, err := os.Open(p.path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		body, size = file, info.Size()
	}
	_, err := exchange(ctx, http.MethodPut, to, io.NopCloser(body), size, mostAnswer)
	return err
}

// exchange sends a request to a signed URL, which must not appear in errors.
func exchange(ctx context.Context, method, to string, body io.ReadCloser, size, most int64) ([]byte, error) {
	at, err := url.Parse(to)
	if err != nil || !farm.Safe(at) {
		return nil, errors.New("the service returned an address that does not begin with https://")
	}
	request, err := http.NewRequestWithContext(ctx, method, to, body)
	if err != nil {
		return nil, errors.New("the service returned an invalid address")
	}
	if request.ContentLength = size; body != nil {
		request.Header.Set("Content-Type", contentType)
	}
	return rest.Ask(rest.Client, request, "the storage", most, saidByStorage)
}

// saidByStorage returns the message in an error response of S3.
func saidByStorage(text []byte) string {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(text, &said)
	return prose.Clip(prose.OneLine(said.Code+" "+said.Message), 300)
}

// processed waits until the farm has processed an upload.
func (f *Farm) processed(ctx context.Context, p part, name string) error {
	const every = 2 * time.Second
	for {
		var answer struct {
			Upload struct{ Status, Message, Metadata string }
		}
		if err := f.ask(ctx, f.project, "get-upload", map[string]any{"arn": name}, &answer, ""); err != nil {
			return err
		}
		switch u := answer.Upload; u.Status {
		case "SUCCEEDED":
			return nil
		case "FAILED":
			return fmt.Errorf("%v was refused: %s", p, prose.Clip(prose.OneLine(cmp.Or(u.Message, u.Metadata, "the farm does not say why")), 400))
		}
		if err := f.computer.Pause(ctx, every); err != nil {
			return err
		}
	}
}
