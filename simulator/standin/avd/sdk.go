package avd

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// available are the packages in the simulated repository of Google's.
var available = []string{
	"emulator", "platform-tools",
	"system-images;android-29;google_apis;x86",
	"system-images;android-30;google_apis;x86",
	"system-images;android-33;google_apis;x86_64",
	"system-images;android-34;default;x86_64",
	"system-images;android-34;google_apis;x86_64",
}

// license is the file of the SDK that records the acceptance of its licence.
const license = "licenses/android-sdk-license"

// SDKManager simulates sdkmanager: it asks for licences, and installs packages as folders.
func SDKManager(_ state.Folder, args []string, stdout, stderr io.Writer) int {
	sdk := os.Getenv("ANDROID_HOME")
	status := 0
	for _, arg := range args {
		switch {
		case arg == "--licenses":
			fmt.Fprint(stdout, "1 of 1 SDK package license not accepted.\nReview license that has not been accepted (y/N)? ")
			if !accepted(sdk, stdout) {
				return 0
			}
			fmt.Fprintln(stdout, "All SDK package licenses accepted")
		case arg == "--install", arg == "--verbose", arg == "--no_https", strings.HasPrefix(arg, "--channel="):
		case strings.HasPrefix(arg, "-"):
			fmt.Fprintf(stderr, "Error: Unknown argument %s\n", arg)
			return 1
		default:
			status = max(status, install(sdk, arg, stdout, stderr))
		}
	}
	return status
}

// accepted asks on the standard input, and records a yes.
func accepted(sdk string, stdout io.Writer) bool {
	in := bufio.NewReader(os.Stdin)
	for range 2 { // whether to review, and each licence
		if answer, _ := in.ReadString('\n'); strings.ToLower(strings.TrimSpace(answer)) != "y" {
			fmt.Fprintln(stdout, "\nThe license was not accepted.")
			return false
		}
	}
	return write(filepath.Join(sdk, license), "accepted\n") == nil
}

func install(sdk, name string, stdout, stderr io.Writer) int {
	fmt.Fprint(stdout, "Loading package information...\r[=======================================] 100% Computing updates...\n")
	found := false
	for _, a := range available {
		found = found || a == name
	}
	if !found {
		fmt.Fprintf(stderr, "Warning: Failed"+" to find package '%s'\n", name)
		return 1
	}
	if _, err := os.Stat(filepath.Join(sdk, license)); err != nil {
		fmt.Fprintf(stderr, "Warning: License for package %s not accepted.\n", name)
		return 1
	}
	if err := Install(sdk, name); err != nil {
		fmt.Fprintln(stderr, "Error:", err)
		return 1
	}
	fmt.Fprint(stdout, "[=======================================] 100% Unzipping...\n")
	return 0
}

// Install installs the files of a package that are needed into the SDK's folder.
func Install(sdk, name string) error {
	dir := filepath.Join(append([]string{sdk}, strings.Split(name, ";")...)...)
	return write(filepath.Join(dir, "package.xml"), "<!-- "+name+", made up for tests -->\n")
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}
