// Package secrets keeps a workflow's secrets from the workloads that apkgate starts on the same
// computer: it removes them from this process's environment and from theirs.
//
// Code from a pull request gets the variables that it needs to run, by name, and no unknown ones.
package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/usecase/terminal"
)

// secretName matches variables that a workload on this computer must not see.
var secretName = regexp.MustCompile(`(?i)TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE|APIKEY|API_KEY|ACCESS_KEY|PGPASS`)

// tokenVariables are the variables that may contain GitHub's token.
var tokenVariables = []string{"INPUT_GITHUB-TOKEN", "INPUT_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"}

// HandedOver names the environment variable with the file descriptor from which secrets are read.
const HandedOver = "APKGATE_SECRETS_FD"

// maxSecrets is what every system's pipe takes without a reader, in bytes.
const maxSecrets = 16 << 10

// Take takes the secrets out of this process's environment. A process's initial environment stays
// readable to every other process of its user for as long as it lives (/proc/PID/environ). So the
// process executes itself again, in place, and passes the secrets to itself through a pipe. Only a
// workflow's commands do so, since they measure code from a pull request.
func Take(c *terminal.Console, args []string) error {
	if !c.Process || len(args) == 0 || args[0] != "action" {
		return nil
	}
	if fd := os.Getenv(HandedOver); fd != "" {
		os.Unsetenv(HandedOver)
		secrets, err := readSecrets(fd)
		if err != nil {
			return fmt.Errorf("take the secrets over: %w", err)
		}
		keep(c, secrets)
		return nil
	}
	secrets := map[string]string{}
	var others []string
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if value != "" && (secretName.MatchString(name) || slices.Contains(tokenVariables, name)) {
			secrets[name] = value
			continue
		}
		others = append(others, variable)
	}
	if len(secrets) == 0 {
		return nil
	}
	data, err := json.Marshal(secrets)
	if err == nil && len(data) > maxSecrets {
		err = fmt.Errorf("they have %d bytes, at most %d are allowed", len(data), maxSecrets)
	}
	if err == nil {
		err = startAgain(others, data) // which does not return if it succeeds
	}
	keep(c, secrets)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return fmt.Errorf("take the secrets out of the environment: %w", err)
}

// keep makes the secrets available to this process again, in its own memory, which other processes
// can't read. The tokens are not even in its environment, so that no program that it starts
// inherits them.
func keep(c *terminal.Console, secrets map[string]string) {
	for name, value := range secrets {
		if slices.Contains(tokenVariables, name) {
			os.Unsetenv(name)
		} else {
			os.Setenv(name, value)
		}
	}
	getenv := c.Getenv
	c.Getenv = func(name string) string {
		if value, ok := secrets[name]; ok {
			return value
		}
		return getenv(name)
	}
}

// passed matches the variables that a workload on this computer gets: what it needs to find
// programs, Java, the Android SDK, adb, a proxy and its own settings.
var passed = regexp.MustCompile(`^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LANGUAGE|LC_[A-Z]+|TMPDIR|TMP|TEMP|PWD|CI|DISPLAY|` +
	`JAVA_[A-Z_]+|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|ANDROID_[A-Z_]+|ADB_[A-Z_]+|MAESTRO_[A-Z0-9_]+|XDG_[A-Z_]+|SSL_CERT_(FILE|DIR)|` +
	`(HTTP|HTTPS|NO|ALL)_PROXY|(http|https|no|all)_proxy)$`)

// passedOnWindows are those without which a program on Windows doesn't start.
var passedOnWindows = regexp.MustCompile(`(?i)^(PATH|PATHEXT|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|USERPROFILE|HOMEDRIVE|HOMEPATH|USERNAME|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES(\(X86\))?)$`)

// WorkloadEnvironment returns the part of an environment that a workload gets.
func WorkloadEnvironment(environment []string) []string {
	var out []string
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		fits := passed.MatchString(name) || runtime.GOOS == "windows" && passedOnWindows.MatchString(name)
		meant := strings.HasPrefix(name, "MAESTRO_") && name != "MAESTRO_CLOUD_API_KEY" // flows read these
		if fits && (meant || !secretName.MatchString(name)) {
			out = append(out, variable)
		}
	}
	return out
}
