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

// answer is what gmsaas prints with --format compactjson: results on its standard
// output, errors on its standard error (its cli/clioutput.py). What is not named here is
// of no use to apkgate.
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

// recipe is what an instance is made from.
type recipe struct {
	UUID    string `json:"uuid"`
	Name    string `json:"name"`
	Android string `json:"android_version"`
}

// States of an instance (gmsaas's model/instanceinfo.py). One that is over is no longer
// listed by the platform, or listed as such for a moment.
const (
	online = "ONLINE"
)

// over reports whether an instance costs nothing any more.
func (i instance) over() bool { return i.State == "DELETED" || i.State == "RECYCLED" }

// ending reports whether somebody stops the instance already.
func (i instance) ending() bool { return i.State == "STOPPING" || i.State == "DELETING" }

// readAnswer reads the JSON object of an answer. Before it may stand what Python and its
// libraries warn of.
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

// offers are the recipes as they are chosen from. One whose UUID is none can't be told
// to gmsaas.
func (a answer) offers() (out []genymotion.Offer) {
	for _, r := range a.Recipes {
		if isUUID(r.UUID) {
			out = append(out, genymotion.Offer{ID: r.UUID, Name: r.Name, Android: r.Android})
		}
	}
	return out
}

// named are the instances of the name that are not over yet.
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

// address is a serial as an address of this computer: what adb calls localhost:34919 is
// a port that the tunnel opened here.
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
