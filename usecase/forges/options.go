package forges

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/usecase/githubactions"
	"github.com/apkgate/apkgate/usecase/restapi"
)

// Options connect to a server. What is empty comes from the environment of the CI job.
type Options struct {
	Getenv     func(string) string
	Server     string // "https://gitlab.example.org"
	Repository string // "group/app"
	Number     string // of the merge or pull request
	Commit     string // the judged one
	Token      string // required
	Clock      restapi.Clock
	Log        func(string) // called for each retry, and for slow requests
}

// API returns the address of the server's API: below the address of Options if it has one, else
// the first variable that is set.
func (o Options) API(path string, variables ...string) (string, error) {
	if o.Server != "" {
		return strings.TrimRight(o.Server, "/") + path, nil
	}
	for _, name := range variables {
		if address := o.Getenv(name); address != "" {
			return address, nil
		}
	}
	return "", fmt.Errorf("the server is unknown: %s is not set", variables[0])
}

// ReadNumber returns a number of Options or of a variable, 0 for none.
func ReadNumber(given, variable string) (int64, error) {
	text := cmp.Or(given, variable)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("the pull request is %.40q, want its number", text)
	}
	return n, nil
}

// CheckCommit checks that a commit is a full id.
func CheckCommit(commit string) error {
	if !githubactions.IsCommit(commit) {
		return fmt.Errorf("the commit is %.80q, want its full hexadecimal id", commit)
	}
	return nil
}
