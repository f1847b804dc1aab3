// Package aws plays AWS Device Farm, for tests: the command aws, the service that it
// asks, and the storage that signed addresses lead to.
//
// It owns what they print and answer: the shapes of the service's model (devicefarm
// 2015-06-23), Amazon's developer guide for what becomes of a run, and the errors of the AWS
// CLI as botocore words them. The service is there for the real command, too. It takes a
// stand: a run ends by being looked at and not with time, so that nobody waits for it; and it
// goes on until it has ended or is stopped, whatever becomes of whoever asked for it.
package aws

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// What can go wrong.
const (
	LoggedOut = "aws-logged-out"
	// Throttled has a call be one too many.
	Throttled = "aws-throttled"
	// Unanswered has the service fail by itself.
	Unanswered = "aws-unanswered"
	// Limit has a run be refused for the account's limit.
	Limit = "aws-limit"
	// SlowUpload holds what is sent to the storage until it is mended, Unprocessed has the
	// farm not be through with an upload yet, and Refused has it refuse one.
	SlowUpload  = "aws-slow-upload"
	Unprocessed = "aws-unprocessed"
	Refused     = "aws-refused"
	// SlowSubmit holds aws between the creation of a run and its being told, until mended.
	SlowSubmit = "aws-slow-submit"
	// Waiting has a run wait for others of the account, Endless has none end by itself, and
	// Stopping has one that was asked to stop go on for a while.
	Waiting  = "aws-waiting"
	Endless  = "aws-endless"
	Stopping = "aws-stopping"
	// Fails has the test fail on the last device of a run, Errored has Device Farm fail
	// there, Elsewhere has somebody stop it, and NoResults has it pass and leave nothing.
	Fails     = "aws-fails"
	Errored   = "aws-errored"
	Elsewhere = "aws-stopped-elsewhere"
	NoResults = "aws-no-results"
	// Expired has a signed address be no longer good.
	Expired = "aws-expired"
)

// Project is the ARN of the account's project.
const Project = "arn:aws:devicefarm:us-west-2:123456789012:project:5e01a8c7-c861-4c0a-b1d5-5ec6e6c6dd23"

// Signature is what opens a signed address: a secret.
const Signature = "X-Amz-Signature=4f1c0ffee5ecret"

const resource = "5e01a8c7-c861-4c0a-b1d5-5ec6e6c6dd23"

func nameOf(what, id string) string {
	return "arn:aws:devicefarm:us-west-2:123456789012:" + what + ":" + resource + "/" + id
}

// Phone is a kind of phone: a Device of the service's model.
type Phone struct {
	ARN          string `json:"arn"`
	Name         string `json:"name"`
	Manufacturer string `json:"manufacturer"`
	Model        string `json:"model"`
	ModelID      string `json:"modelId"`
	FormFactor   string `json:"formFactor"`
	Platform     string `json:"platform"`
	OS           string `json:"os"`
	FleetType    string `json:"fleetType"`
	Availability string `json:"availability"`
}

func phone(id, name, model, os, availability string) Phone {
	return Phone{"arn:aws:devicefarm:us-west-2::device:" + id, name, "Google", model, id, "PHONE", "ANDROID", os, "PUBLIC", availability}
}

// phones are the fleet: of one kind there are two, of which one is free sooner.
var phones = []Phone{
	phone("A1", "Google Pixel 6", "Pixel 6", "13", "BUSY"),
	phone("A2", "Google Pixel 6", "Pixel 6", "13", "HIGHLY_AVAILABLE"),
	phone("A3", "Google Pixel 6", "Pixel 6", "12", "AVAILABLE"),
	phone("B1", "Samsung Galaxy S9 (Unlocked)", "SM-G960U1", "9", "AVAILABLE"),
}

// Upload is one that was created.
type Upload struct {
	ARN     string `json:"arn"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Content is what was sent there.
	Content string `json:"content"`
	Deleted bool   `json:"deleted"`
}

// Run is one that was scheduled.
type Run struct {
	ARN     string   `json:"arn"`
	Name    string   `json:"name"`
	App     string   `json:"app"` // what the file of the APK holds
	Spec    string   `json:"spec"`
	Minutes int      `json:"minutes"`
	Billing string   `json:"billing"`
	Status  string   `json:"status"`
	Jobs    []Job    `json:"jobs"`
	Uploads []string `json:"uploads"`
	// Robbed says that one of its uploads was deleted before it had ended.
	Robbed bool `json:"robbed"`
}

// Job is a run on one phone.
type Job struct {
	ARN     string `json:"arn"`
	Phone   Phone  `json:"phone"`
	Result  string `json:"result"`
	Results bool   `json:"results"`
}

// account is all that there is.
type account struct {
	Uploads []Upload `json:"uploads"`
	Runs    []Run    `json:"runs"`
}

const file = "devicefarm.json"

func change(folder state.Folder, edit func(*account) error) error {
	return folder.Locked("devicefarm", func() error {
		var a account
		if err := folder.Load(file, &a); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := edit(&a); err != nil {
			return err
		}
		return folder.Save(file, a)
	})
}

// Runs are all that were scheduled.
func Runs(folder state.Folder) (runs []Run, err error) {
	err = change(folder, func(a *account) error { runs = a.Runs; return nil })
	return runs, err
}

// Running are the runs that go on.
func Running(folder state.Folder) (names []string, err error) {
	runs, err := Runs(folder)
	for _, r := range runs {
		if r.Status != "COMPLETED" {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// Uploads are those that were not deleted, and how many there ever were.
func Uploads(folder state.Folder) (left []string, ever int, err error) {
	err = change(folder, func(a *account) error {
		for _, u := range a.Uploads {
			if ever++; !u.Deleted {
				left = append(left, u.Name)
			}
		}
		return nil
	})
	return left, ever, err
}

// hold waits until what the word names is mended.
func hold(folder state.Folder, word string) {
	for folder.Fails(word) && !folder.Gone() {
		time.Sleep(5 * time.Millisecond)
	}
}

// refusal is an error of the service: its name in the model, and words.
type refusal struct{ name, message string }

func (r *refusal) Error() string { return r.name + ": " + r.message }

func argument(text ...string) error { return &refusal{"ArgumentException", strings.Join(text, " ")} }
