package saas

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/device/lab/genymotion"
	"github.com/apkgate/apkgate/internal/prose"
)

// answer is gmsaas's output with --format compactjson: results on its standard output, errors
// on its standard error (its cli/clioutput.py). Other fields are ignored.
type answer struct {
	ExitCode  *int       `json:"exit_code"` // in every answer
	Version   string     `json:"version"`
	Instance  *instance  `json:"instance"`
	Instances []instance `json:"instances"`
	Recipes   []recipe   `json:"recipes"`
	Error     *struct {
		Message string   `json:"message"`
		Details string   `json:"details"`
		Issues  []string `json:"issues"` // of doctor
	} `json:"error"`
}

// instance is a virtual device of the cloud.
type instance struct {
	UUID   string `json:"uuid"`
	Name   string `json:"name"`
	State  string `json:"state"`
	Serial string `json:"adb_serial"` // "localhost:34919"; "0.0.0.0" while it is not connected
}

// recipe is a recipe for an instance.
type recipe struct {
	UUID    string `json:"uuid"`
	Name    string `json:"name"`
	Android string `json:"android_version"`
}

// States of an instance (gmsaas's model/instanceinfo.py). One that has ended is no longer
// listed by the platform, or listed as ended for a moment.
const (
	online = "ONLINE"
)

// over reports whether an instance is no longer billed.
func (i instance) over() bool { return i.State == "DELETED" || i.State == "RECYCLED" }

// ending reports whether the instance is already being stopped.
func (i instance) ending() bool { return i.State == "STOPPING" || i.State == "DELETING" }

// readAnswer parses the JSON object of an answer, which warnings of Python and its libraries
// may precede.
func readAnswer(text []byte) (answer, error) {
	text = bytes.TrimSpace(text)
	for rest := text; len(rest) > 0; {
		if rest[0] == '{' {
			var a answer
			if err := json.Unmarshal(rest, &a); err == nil && a.ExitCode != nil {
				return a, nil
			}
		}
		_, after, more := bytes.Cut(rest, []byte("\n"))
		if !more {
			break
		}
		rest = bytes.TrimSpace(after)
	}
	if len(text) == 0 {
		return answer{}, errors.New("it printed nothing, want JSON")
	}
	return answer{}, fmt.Errorf("it printed %s, want JSON", prose.Quote(prose.OneLine(string(text)), 120))
}

// offers returns the recipes to choose from. One without a valid UUID can't be passed to
// gmsaas.
func (a answer) offers() (out []genymotion.Offer) {
	for _, r := range a.Recipes {
		if isUUID(r.UUID) {
			out = append(out, genymotion.Offer{ID: r.UUID, Name: r.Name, Android: r.Android})
		}
	}
	return out
}

// named returns the instances with the name that have not ended.
func (a answer) named(name string) (out []instance) {
	for _, i := range a.Instances {
		if i.Name == name && isUUID(i.UUID) && !i.over() {
			out = append(out, i)
		}
	}
	return out
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func isUUID(s string) bool { return uuidPattern.MatchString(s) }

var serialPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,99}:([0-9]{1,5})$`)

// address converts a serial to an address on this computer: localhost:34919 in adb is a port
// that the tunnel opened here.
func address(serial string) (string, bool) {
	m := serialPattern.FindStringSubmatch(serial)
	if m == nil {
		return "", false
	}
	if port, err := strconv.Atoi(m[1]); err != nil || port < 1 || port > 65535 {
		return "", false
	}
	return strings.Replace(serial, "localhost:", "127.0.0.1:", 1), true
}
