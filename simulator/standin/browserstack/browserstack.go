// Package browserstack simulates BrowserStack App Automate for tests: its REST interface for
// Espresso, version 2.
//
// It owns the service's answers, by BrowserStack's public documents; docs/collection/farms.md has the
// source of each form. A build ends when it is polled rather than with time, so that no test
// waits for it; otherwise it runs until it has ended or is stopped, even if its client has
// died.
package browserstack

import (
	"errors"
	"io/fs"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// The failures.
const (
	LoggedOut = "browserstack-logged-out"
	// InUse makes a build refused because all parallel tests and all places in the queue are
	// in use.
	InUse = "browserstack-in-use"
	// TooMany makes an upload refused, and Unanswered makes any other request for a build
	// fail.
	TooMany    = "browserstack-too-many"
	Unanswered = "browserstack-unanswered"
	// Expired makes a build refused because its app has expired.
	Expired = "browserstack-expired"
	// Lost starts a build and makes the answer fail.
	Lost = "browserstack-lost"
	// SlowUpload blocks an upload, and SlowBuild the answer with a build's number, until they
	// are mended.
	SlowUpload = "browserstack-slow-upload"
	SlowBuild  = "browserstack-slow-build"
	// Queued makes a build wait when it is polled, and Endless makes a started build run until
	// it is stopped.
	Queued  = "browserstack-queued"
	Endless = "browserstack-endless"
	// ByPost makes another verb stop a build.
	ByPost = "browserstack-by-post"
	// The results of a test on the last device of a build.
	Fails          = "browserstack-fails"
	Infrastructure = "browserstack-infrastructure"
	TimedOut       = "browserstack-timed-out"
	Skipped        = "browserstack-skipped"
	// The flaws of a passed test's log there.
	NoResults = "browserstack-no-results"
	CutLog    = "browserstack-cut-log"
	LargeLog  = "browserstack-large-log"
)

// User and Key are valid credentials.
const (
	User = "mail_x7k2"
	Key  = "stand-in-secret-key"
)

// Build is a started build.
type Build struct {
	ID      string
	App     string // the contents of the APK file, without the letters that a ZIP archive begins with
	Asked   map[string]any
	Devices []Device
	Status  string
	Endless bool
}

// Device is a device of a build.
type Device struct {
	Name, Version string
	Status        string // once the build has ended
	Log           string // the flaw of its log, "" for none
}

const file = "browserstack.json"

// known is the service's state.
type known struct {
	Builds  []Build
	Uploads map[string]string // file contents by name
}

func change(folder state.Folder, edit func(*known)) (k known, err error) {
	err = folder.Locked("browserstack", func() error {
		if err := folder.Load(file, &k); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if k.Uploads == nil {
			k.Uploads = map[string]string{}
		}
		edit(&k)
		return folder.Save(file, k)
	})
	return k, err
}

// Builds returns all started builds.
func Builds(folder state.Folder) ([]Build, error) {
	k, err := change(folder, func(*known) {})
	return k.Builds, err
}

// Running returns the builds that have not ended.
func Running(folder state.Folder) (ids []string, err error) {
	all, err := Builds(folder)
	for _, b := range all {
		if b.Status == "running" || b.Status == "queued" {
			ids = append(ids, b.ID)
		}
	}
	return ids, err
}
