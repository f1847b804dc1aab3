// Package aws simulates AWS Device Farm for tests: the command aws, its service, and the
// storage behind signed URLs.
//
// It owns their output and answers: the shapes of the service's model (devicefarm 2015-06-23),
// the lifecycle of a run by Amazon's developer guide, and the errors of the AWS CLI in
// botocore's wording. The service also works with the real command. A run ends when it is
// polled rather than with time, so that no test waits for it; otherwise it continues until it
// has ended or is stopped, even if its client has died.
package aws

import (
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// The failures.
const (
	LoggedOut = "aws-logged-out"
	// Throttled makes a call exceed the rate limit.
	Throttled = "aws-throttled"
	// Unanswered makes the service fail internally.
	Unanswered = "aws-unanswered"
	// Limit makes a run exceed the account's limit.
	Limit = "aws-limit"
	// SlowUpload blocks an upload to the storage until it is mended, Unprocessed makes an
	// upload not processed yet, and Refused makes the farm refuse it.
	SlowUpload  = "aws-slow-upload"
	Unprocessed = "aws-unprocessed"
	Refused     = "aws-refused"
	// SlowSubmit blocks aws between the creation of a run and its output, until mended.
	SlowSubmit = "aws-slow-submit"
	// Waiting makes a run wait for others of the account, Endless keeps it from ending by
	// itself, and Stopping makes it continue for a while after a stop request.
	Waiting  = "aws-waiting"
	Endless  = "aws-endless"
	Stopping = "aws-stopping"
	// Fails makes the test fail on the last device of a run, Errored makes Device Farm fail
	// there, Elsewhere makes another client stop it, and NoResults makes it pass without
	// results.
	Fails     = "aws-fails"
	Errored   = "aws-errored"
	Elsewhere = "aws-stopped-elsewhere"
	NoResults = "aws-no-results"
	// Expired makes a signed URL invalid.
	Expired = "aws-expired"
)

// Project is the ARN of the account's project.
const Project = "arn:aws:devicefarm:us-west-2:123456789012:project:5e01a8c7-c861-4c0a-b1d5-5ec6e6c6dd23"

// Signature is the secret part of a signed URL.
const Signature = "X-Amz-Signature=4f1c0ffee5ecret"

const resource = "5e01a8c7-c861-4c0a-b1d5-5ec6e6c6dd23"

func nameOf(what, id string) string {
	return "arn:aws:devicefarm:us-west-2:123456789012:" + what + ":" + resource + "/" + id
}

// Phone is a phone model: a Device of the service's model.
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

// phones are the fleet: one model exists twice, with different availability.
var phones = []Phone{
	phone("A1", "Google Pixel 6", "Pixel 6", "13", "BUSY"),
	phone("A2", "Google Pixel 6", "Pixel 6", "13", "HIGHLY_AVAILABLE"),
	phone("A3", "Google Pixel 6", "Pixel 6", "12", "AVAILABLE"),
	phone("B1", "Samsung Galaxy S9 (Unlocked)", "SM-G960U1", "9", "AVAILABLE"),
}

// Upload is a created upload.
type Upload struct {
	ARN     string `json:"arn"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Content is the uploaded data.
	Content string `json:"content"`
	Deleted bool   `json:"deleted"`
}

// Run is a scheduled run.
type Run struct {
	ARN     string   `json:"arn"`
	Name    string   `json:"name"`
	App     string   `json:"app"` // what the file of the APK has behind the letters that a ZIP archive begins with
	Spec    string   `json:"spec"`
	Minutes int      `json:"minutes"`
	Billing string   `json:"billing"`
	Status  string   `json:"status"`
	Jobs    []Job    `json:"jobs"`
	Uploads []string `json:"uploads"`
	// Robbed reports that one of its uploads was deleted before it had ended.
	Robbed bool `json:"robbed"`
}

// Job is a run on one phone.
type Job struct {
	ARN     string `json:"arn"`
	Phone   Phone  `json:"phone"`
	Result  string `json:"result"`
	Results bool   `json:"results"`
}

// account is the state of the account.
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

// Runs returns all scheduled runs.
func Runs(folder state.Folder) (runs []Run, err error) {
	err = change(folder, func(a *account) error { runs = a.Runs; return nil })
	return runs, err
}

// Running returns the runs that have not ended.
func Running(folder state.Folder) (names []string, err error) {
	runs, err := Runs(folder)
	for _, r := range runs {
		if r.Status != "COMPLETED" {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// Uploads returns the uploads that were not deleted, and the number of all uploads.
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

// hold waits until the failure is mended.
func hold(folder state.Folder, word string) {
	for folder.Fails(word) && !folder.Gone() {
		time.Sleep(5 * time.Millisecond)
	}
}

// refusal is an error of the service: its name in the model, and its message.
type refusal struct{ name, message string }

func (r *refusal) Error() string { return r.name + ": " + r.message }

func argument(text ...string) error { return &refusal{"ArgumentException", strings.Join(text, " ")} }
