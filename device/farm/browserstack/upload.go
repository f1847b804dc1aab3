package browserstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/device/farm/rest"
)

// file is a file to upload, and its kind.
type file struct {
	path string
	as   string // the last part of the service's path
}

// The kinds of uploads (api-reference/espresso/apps and …/tests).
const (
	asApp  = "app"
	asTest = "test-suite"
)

// A user may upload five files a minute (api-reference/introduction). Each file is uploaded
// once, and again after a pause if the service refuses it for that reason.
const (
	uploadWithin = 15 * time.Minute
	uploadAgain  = 15 * time.Second
	uploadTries  = 9
)

// resource matches the name of an uploaded file.
var resource = regexp.MustCompile(`^bs://[A-Za-z0-9]{1,128}$`)

// upload returns the service's name of an APK, uploading it if necessary.
func (f *Farm) upload(ctx context.Context, apk file, tell func(string)) (string, error) {
	f.uploading.Lock()
	defer f.uploading.Unlock()
	if known := f.uploaded[apk]; known != "" {
		return known, nil
	}
	tell("uploading " + filepath.Base(apk.path))
	for tries := 1; ; tries++ {
		name, err := f.send(ctx, apk)
		if err == nil {
			f.uploaded[apk] = name
			return name, nil
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if tries == uploadTries || errors.Is(err, farm.ErrRefused) {
			return "", err
		}
		if err := f.computer.Pause(ctx, uploadAgain); err != nil {
			return "", err
		}
	}
}

// has reports whether the files were uploaded before.
func (f *Farm) has(apks ...file) bool {
	f.uploading.Lock()
	defer f.uploading.Unlock()
	return !slices.ContainsFunc(apks, func(apk file) bool { return f.uploaded[apk] == "" })
}

// forget causes files to be uploaded again: they expire, or were deleted.
func (f *Farm) forget(apks ...file) {
	f.uploading.Lock()
	defer f.uploading.Unlock()
	for _, apk := range apks {
		delete(f.uploaded, apk)
	}
}

// send uploads a file once.
func (f *Farm) send(ctx context.Context, apk file) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, uploadWithin)
	defer cancel()
	opened, err := os.Open(apk.path)
	if err != nil {
		return "", rest.Final(err)
	}
	defer func() { _ = opened.Close() }()
	info, err := opened.Stat()
	if err != nil {
		return "", err
	}
	var around bytes.Buffer
	form := multipart.NewWriter(&around)
	if _, err := form.CreateFormFile("file", filepath.Base(apk.path)); err != nil {
		return "", err
	}
	head := around.Len()
	if err := form.Close(); err != nil {
		return "", err
	}
	body := io.MultiReader(bytes.NewReader(around.Bytes()[:head]), opened, bytes.NewReader(around.Bytes()[head:]))
	request, err := f.request(ctx, http.MethodPost, f.address()+"/app-automate/espresso/v2/"+apk.as, body)
	if err != nil {
		return "", err
	}
	request.ContentLength = int64(around.Len()) + info.Size()
	request.Header.Set("Content-Type", form.FormDataContentType())
	text, err := rest.Ask(rest.Client, request, "the service", mostAnswer, refusal)
	if err != nil {
		return "", err
	}
	var answer struct {
		App   string `json:"app_url"`
		Suite string `json:"test_suite_url"`
		Test  string `json:"test_url"` // of older documents
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", fmt.Errorf("read the answer of the service: %w", err)
	}
	for _, name := range []string{answer.App, answer.Suite, answer.Test} {
		if resource.MatchString(name) {
			return name, nil
		}
	}
	return "", rest.Final(fmt.Errorf("it names no file that was uploaded: %s", refusal(text)))
}
