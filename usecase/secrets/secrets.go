// Package secrets keeps a workflow's secrets from the workloads that apkgate starts on the same
// computer: it removes them from this process's environment and from theirs.
//
// Code from a pull request gets the variables that it needs to run, each by its exact name, and no
// unknown ones: what a secret is called is anybody's choice.
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

// tokenVariables are the variables that may contain GitHub's token.
var tokenVariables = []string{"INPUT_GITHUB-TOKEN", "INPUT_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"}

// handedOver names the environment variable with the file descriptor from which secrets are read.
const handedOver = "APKGATE_SECRETS_FD"

// maxSecrets limits what is handed over, in bytes: an environment has at most 6 MiB on Linux, and
// a pipe takes 64 KiB without a reader, on some systems 16 KiB.
const maxSecrets = 64 << 10

// Take takes everything that may be a secret out of this process's environment: all but what a
// workload may read too. A process's initial environment stays readable to every other process of
// its user for as long as it lives (/proc/PID/environ). So the process executes itself again, in
// place, and passes the rest to itself through a pipe. Only a workflow's commands do so, since they
// measure code from a pull request.
func Take(c *terminal.Console, args []string) error {
	if !c.Process || len(args) == 0 || args[0] != "action" {
		return nil
	}
	if fd := os.Getenv(handedOver); fd != "" {
		os.Unsetenv(handedOver)
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
		if forWorkloads(name) || value == "" {
			others = append(others, variable)
		} else {
			secrets[name] = value
		}
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
// can't read. Its environment, which the programs that it starts inherit, only gets those that
// these programs need.
func keep(c *terminal.Console, secrets map[string]string) {
	for name, value := range secrets {
		if inherited.MatchString(name) && !slices.Contains(tokenVariables, name) {
			os.Setenv(name, value)
		} else {
			os.Unsetenv(name)
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

// inherited matches variables of the programs that apkgate starts itself: git and ssh for a history
// on a branch, the emulator, and the tools of device labs and farms.
var inherited = regexp.MustCompile(`^(GIT_|SSH_|GITHUB_|RUNNER_|ANDROID_EMULATOR_|GENYMOTION_|CLOUDSDK_|GOOGLE_|AWS_|BROWSERSTACK_|PG[A-Z]|APKGATE_|COLUMNS$)`)

// passed are the variables that a workload on this computer gets: what it needs to find programs,
// Java, the Android SDK, adb and a proxy.
var passed = strings.Fields(`
	PATH HOME USER LOGNAME SHELL TERM TZ TMPDIR TMP TEMP PWD CI DISPLAY LD_LIBRARY_PATH
	LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME
	JAVA_HOME JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS
	ANDROID_HOME ANDROID_SDK_ROOT ANDROID_SDK_HOME ANDROID_USER_HOME ANDROID_PREFS_ROOT ANDROID_AVD_HOME ANDROID_EMULATOR_HOME
	ANDROID_SERIAL ANDROID_LOG_TAGS ANDROID_ADB_SERVER_ADDRESS ANDROID_ADB_SERVER_PORT ADB_SERVER_SOCKET ADB_VENDOR_KEYS ADB_TRACE
	ADB_LOCAL_TRANSPORT_MAX_PORT
	XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME
	SSL_CERT_FILE SSL_CERT_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy`)

// passedOnWindows are those without which a program on Windows doesn't start.
var passedOnWindows = strings.Fields(`
	PATH PATHEXT SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC USERPROFILE HOMEDRIVE HOMEPATH USERNAME APPDATA LOCALAPPDATA
	PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)`)

// forWorkloads reports whether a workload on this computer gets the variable. Flows read those that
// begin with MAESTRO_, which a workflow sets for them.
func forWorkloads(name string) bool {
	return slices.Contains(passed, name) || strings.HasPrefix(name, "MAESTRO_") && name != "MAESTRO_CLOUD_API_KEY" ||
		runtime.GOOS == "windows" && slices.Contains(passedOnWindows, strings.ToUpper(name))
}

// WorkloadEnvironment returns the part of an environment that a workload gets.
func WorkloadEnvironment(environment []string) []string {
	var out []string
	for _, variable := range environment {
		if name, _, _ := strings.Cut(variable, "="); forWorkloads(name) {
			out = append(out, variable)
		}
	}
	return out
}
