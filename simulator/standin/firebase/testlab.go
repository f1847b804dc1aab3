// Package firebase simulates Firebase Test Lab for tests: the program gcloud, and the three
// services that it and apkgate use.
//
// It owns their output and answers, by the sources of gcloud (matrix_creator.py,
// results_bucket.py, exceptions.py below lib/googlecloudsdk/api_lib/firebase/test) and the
// reference of the services testing v1, toolresults v1beta3 and storage v1. A matrix ends when
// it is polled rather than with time, so that no test waits for it; otherwise it runs until it
// has ended or is cancelled, even if its client has died.
package firebase

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// The failures.
const (
	LoggedOut = "testlab-logged-out"
	// WantsCredentials makes gcloud require a credentials file in its environment, as
	// google-github-actions/auth creates one.
	WantsCredentials = "testlab-wants-credentials"
	// Quota makes a submission refused, in the service's wording.
	Quota = "testlab-quota"
	// SlowUpload blocks gcloud during the upload, until it is mended.
	SlowUpload = "testlab-slow-upload"
	// SlowSubmit blocks gcloud between the creation of a matrix and printing its number, until
	// it is mended.
	SlowSubmit = "testlab-slow-submit"
	// Endless keeps a matrix from ending by itself.
	Endless = "testlab-endless"
	// Fails makes the test fail on the last device of a matrix, Infrastructure makes Test Lab
	// fail there, and NoResults makes it pass without results.
	Fails          = "testlab-fails"
	Infrastructure = "testlab-infrastructure"
	NoResults      = "testlab-no-results"
	// Expired makes a token invalid.
	Expired = "testlab-expired"
	// LostTraces makes traces missing when they are read.
	LostTraces = "testlab-lost-traces"
	// Unanswered makes the service fail to return the state of a matrix.
	Unanswered = "testlab-unanswered"
)

// credentials is gcloud's variable for the file.
const credentials = "CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE"

// Token is the access token of the logged-in user.
const Token = "ya29.a0-stand-in-secret"

// Bucket is the project's default bucket.
const Bucket = "test-lab-stand-in"

// Matrix is a created matrix.
type Matrix struct {
	ID, Project, Dir string
	App              string // the contents of the APK file, without the letters that a ZIP archive begins with
	Args             []string
	Devices          []Device
	State            string
}

// Device is a device of a matrix.
type Device struct {
	Model, Version, Locale, Orientation string
	State                               string
	Outcome                             string // in the tool results
	Results                             bool
}

const file = "testlab.json"

// Matrices returns all created matrices.
func Matrices(folder state.Folder) (all []Matrix, err error) {
	err = change(folder, func(list []Matrix) ([]Matrix, error) { all = list; return list, nil })
	return all, err
}

// Running returns the matrices that have not ended.
func Running(folder state.Folder) (ids []string, err error) {
	all, err := Matrices(folder)
	for _, m := range all {
		if m.State == "RUNNING" {
			ids = append(ids, m.ID)
		}
	}
	return ids, err
}

func change(folder state.Folder, edit func([]Matrix) ([]Matrix, error)) error {
	return folder.Locked("testlab", func() error {
		var list []Matrix
		if err := folder.Load(file, &list); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		list, err := edit(list)
		if err != nil {
			return err
		}
		return folder.Save(file, list)
	})
}

// Models is the catalogue, in the output format of models list.
const models = `[
  {"brand": "Google", "codename": "oriole", "form": "PHYSICAL", "formFactor": "PHONE", "id": "oriole", "manufacturer": "Google", "name": "Pixel 6", "supportedVersionIds": ["31", "32", "33"]},
  {"brand": "Generic", "codename": "MediumPhone.arm", "form": "VIRTUAL", "formFactor": "PHONE", "id": "MediumPhone.arm", "manufacturer": "Generic", "name": "Medium Phone", "supportedVersionIds": ["33", "34"]}
]
`

// GCloud simulates gcloud.
func GCloud(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	command := strings.Join(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") }), " ")
	switch {
	case command == "version":
		fmt.Fprintln(stdout, "549.0.1")
		return 0
	case folder.Fails(LoggedOut), os.Getenv(credentials) == "" && folder.Fails(WantsCredentials):
		fmt.Fprintln(stderr, "ERROR: (gcloud."+strings.ReplaceAll(command, " ", ".")+") You do not currently have an active account selected.\nPlease run:\n\n  $ gcloud auth login\n\nto obtain new credentials.")
		return 1
	case command == "auth print-access-token":
		fmt.Fprintln(stdout, Token)
		return 0
	case command == "firebase test android models list":
		fmt.Fprint(stdout, models)
		return 0
	case command == "firebase test android run":
		return submit(folder, args, stdout, stderr)
	}
	fmt.Fprintf(stderr, "ERROR: (gcloud) Invalid choice: '%s'.\n", command)
	return 2
}

// submit creates a matrix, with gcloud's output.
func submit(folder state.Folder, args []string, stdout, stderr io.Writer) int {
	m := Matrix{Args: args, State: "RUNNING"}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		switch name {
		case "--project":
			m.Project = value
		case "--results-dir":
			m.Dir = value
		case "--app", "--test":
			text, err := os.ReadFile(value)
			if err != nil {
				fmt.Fprintf(stderr, "ERROR: (gcloud.firebase.test.android.run) [%s] not found or not accessible\n", value)
				return 1
			}
			if name == "--app" {
				m.App = strings.TrimPrefix(string(text), "PK")
			}
			fmt.Fprintf(stderr, "Uploading [%s] to Firebase Test Lab...\n", filepath.Base(value))
		case "--device":
			m.Devices = append(m.Devices, deviceOf(value))
		}
	}
	hold(folder, SlowUpload)
	fmt.Fprintf(stderr, "Raw results will be stored in your GCS bucket at [https://console.developers.google.com/storage/browser/%s/%s/]\n\n", Bucket, m.Dir)
	if folder.Fails(Quota) {
		fmt.Fprintln(stderr, "ERROR: (gcloud.firebase.test.android.run) Http error while creating test matrix: ResponseError 429: Not enough test quota to run the executions in this matrix.")
		return 1
	}
	for i := range m.Devices {
		m.Devices[i].State, m.Devices[i].Outcome, m.Devices[i].Results = "FINISHED", "success", true
	}
	if len(m.Devices) > 0 {
		d := &m.Devices[len(m.Devices)-1]
		switch {
		case folder.Fails(Fails):
			d.Outcome, d.Results = "failure", false
		case folder.Fails(Infrastructure):
			d.State, d.Outcome, d.Results = "ERROR", "inconclusive", false
		case folder.Fails(NoResults):
			d.Results = false
		}
	}
	err := change(folder, func(list []Matrix) ([]Matrix, error) {
		m.ID = fmt.Sprintf("matrix-%dstandin", len(list)+1)
		return append(list, m), nil
	})
	if err != nil {
		fmt.Fprintln(stderr, "ERROR:", err)
		return 1
	}
	hold(folder, SlowSubmit)
	fmt.Fprintf(stderr, "Test [%s] has been created in the Google Cloud.\n", m.ID)
	fmt.Fprintf(stderr, "Firebase Test Lab will execute your instrumentation test on %d device(s). More devices may be added later if flaky test attempts are specified.\n\n", len(m.Devices))
	fmt.Fprintf(stdout, "\"https://console.firebase.google.com/project/%s/testlab/histories/bh.1/matrices/7\"\n", m.Project)
	return 0
}

// hold waits until the failure is mended.
func hold(folder state.Folder, word string) {
	for folder.Fails(word) && !folder.Gone() {
		time.Sleep(5 * time.Millisecond)
	}
}

// deviceOf parses model=oriole,version=33,locale=en,orientation=portrait.
func deviceOf(text string) Device {
	values := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return Device{Model: values["model"], Version: values["version"], Locale: values["locale"], Orientation: values["orientation"]}
}
