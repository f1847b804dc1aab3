// Package browserstack plays BrowserStack App Automate, for tests: its REST interface for
// Espresso, version 2.
//
// It owns what the service answers, by BrowserStack's public documents; docs/farms.md says
// where each form is from. It takes a stand: a build ends by being looked at and not with
// time, so that nobody waits for it; and it runs until it has ended or is stopped, whatever
// becomes of whoever asked for it.
package browserstack

import (
	"errors"
	"io/fs"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// What can go wrong.
const (
	LoggedOut = "browserstack-logged-out"
	// InUse has a build refused, since all parallel tests are in use and as many wait as may.
	InUse = "browserstack-in-use"
	// TooMany has an upload refused, and Unanswered has any other question of a build fail.
	TooMany    = "browserstack-too-many"
	Unanswered = "browserstack-unanswered"
	// Expired has a build refused, since its app is no longer there.
	Expired = "browserstack-expired"
	// Lost has a build begun and the answer fail.
	Lost = "browserstack-lost"
	// SlowUpload holds an upload, and SlowBuild the answer that tells a build's number, until
	// they are mended.
	SlowUpload = "browserstack-slow-upload"
	SlowBuild  = "browserstack-slow-build"
	// Queued has a build wait when it is looked at, and Endless has one that is begun run on
	// until it is stopped.
	Queued  = "browserstack-queued"
	Endless = "browserstack-endless"
	// ByPost has a build be stopped by another verb.
	ByPost = "browserstack-by-post"
	// What a test comes to on the last device of a build.
	Fails          = "browserstack-fails"
	Infrastructure = "browserstack-infrastructure"
	TimedOut       = "browserstack-timed-out"
	Skipped        = "browserstack-skipped"
	// What is wrong with the log of a test that passed there.
	NoResults = "browserstack-no-results"
	CutLog    = "browserstack-cut-log"
	LargeLog  = "browserstack-large-log"
)

// User and Key are those of who may use it.
const (
	User = "mail_x7k2"
	Key  = "stand-in-secret-key"
)

// Build is one that was begun.
type Build struct {
	ID      string
	App     string // what the file of the APK holds
	Asked   map[string]any
	Devices []Device
	Status  string
	Endless bool
}

// Device is one of a build.
type Device struct {
	Name, Version string
	Status        string // once the build has ended
	Log           string // what is wrong with it, "" for nothing
}

const file = "browserstack.json"

// known is what the service knows.
type known struct {
	Builds  []Build
	Uploads map[string]string // what a file holds, by its name
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

// Builds are all that were begun.
func Builds(folder state.Folder) ([]Build, error) {
	k, err := change(folder, func(*known) {})
	return k.Builds, err
}

// Running are the builds that go on.
func Running(folder state.Folder) (ids []string, err error) {
	all, err := Builds(folder)
	for _, b := range all {
		if b.Status == "running" || b.Status == "queued" {
			ids = append(ids, b.ID)
		}
	}
	return ids, err
}
