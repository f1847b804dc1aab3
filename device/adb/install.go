package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/adb/marks"
	"github.com/apkgate/apkgate/device/adb/wire"
	"github.com/apkgate/apkgate/internal/prose"
)

// InstallError is a refusal of the package manager.
type InstallError struct {
	APK string
	// Code is "INSTALL_FAILED_…" or "INSTALL_PARSE_FAILED_…", "" where the device
	// gave none.
	Code string
	// Detail is the rest of the device's answer.
	Detail string
}

func (e *InstallError) Error() string {
	text := "the device did not install " + e.APK
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Is makes errors.Is(err, ErrNoSpace) true where the storage was full.
func (e *InstallError) Is(target error) bool {
	return target == ErrNoSpace && e.Code == "INSTALL_FAILED_INSUFFICIENT_STORAGE"
}

// Hint is what to do about the error, "" where nothing is known.
func (e *InstallError) Hint() string {
	if strings.Contains(e.Detail, severalWhole) {
		return "these are no parts of one app, but whole apps, such as Gradle's for one ABI each: let app.apk name the one for this device"
	}
	return installHints[e.Code]
}

// severalWhole is the package manager's message for APKs that claim the same split of an app
// (PackageInstallerSession.java).
const severalWhole = "was defined multiple times"

// installHints are hints for the codes that users meet (PackageManager.java).
var installHints = map[string]string{
	"INSTALL_FAILED_ALREADY_EXISTS":                  "uninstall the package first",
	"INSTALL_FAILED_UPDATE_INCOMPATIBLE":             "the installed app is signed with another key: uninstall it first, or sign both builds alike",
	"INSTALL_FAILED_VERSION_DOWNGRADE":               "a newer version is installed: uninstall it first",
	"INSTALL_FAILED_INSUFFICIENT_STORAGE":            "free space in /data on the device",
	"INSTALL_FAILED_NO_MATCHING_ABIS":                "the APK has native code for other processors than the device's: build for its ABI",
	"INSTALL_FAILED_CPU_ABI_INCOMPATIBLE":            "the APK has native code for other processors than the device's: build for its ABI",
	"INSTALL_FAILED_OLDER_SDK":                       "the app's minSdkVersion is above the device's Android version",
	"INSTALL_FAILED_DEPRECATED_SDK_VERSION":          "the app's targetSdkVersion is too low for the device's Android version",
	"INSTALL_FAILED_MISSING_SPLIT":                   "this is one part of an app: let app.apk name all of its APKs, the folder that they are in, or the .apks that bundletool made",
	"INSTALL_FAILED_MISSING_SHARED_LIBRARY":          "the app needs a library that this device lacks: use an image that has it, such as one with Google APIs",
	"INSTALL_FAILED_USER_RESTRICTED":                 "allow installs over USB in the device's developer options",
	"INSTALL_FAILED_VERIFICATION_FAILURE":            "turn off the verification of apps over USB in the device's developer options",
	"INSTALL_FAILED_INVALID_APK":                     "see that the file is a whole APK",
	"INSTALL_PARSE_FAILED_NOT_APK":                   "see that the file is a whole APK",
	"INSTALL_PARSE_FAILED_NO_CERTIFICATES":           "sign the APK",
	"INSTALL_PARSE_FAILED_INCONSISTENT_CERTIFICATES": "the installed app is signed with another key: uninstall it first, or sign both builds alike",
	"INSTALL_PARSE_FAILED_UNEXPECTED_EXCEPTION":      "see that the file is a whole APK",
	"INSTALL_FAILED_DUPLICATE_PERMISSION":            "another installed app declares the same permission: uninstall that one",
	"INSTALL_FAILED_CONFLICTING_PROVIDER":            "another installed app has a provider of the same authority: uninstall that one",
	"INSTALL_FAILED_MEDIA_UNAVAILABLE":               "wait until the device has mounted its storage",
	"INSTALL_FAILED_PERMISSION_MODEL_DOWNGRADE":      "the installed build targets a newer Android version: uninstall it first",
	"INSTALL_FAILED_ABORTED":                         "the installation was declined on the device: look at its screen",
	"INSTALL_FAILED_INTERNAL_ERROR":                  "look at the device's log; if nothing is there, restart the device",
	"INSTALL_PARSE_FAILED_RESOURCES_ARSC_COMPRESSED": "store resources.arsc in the APK uncompressed and aligned",
}

// installPatience is the factor by which the silence timeout is longer for an install.
const installPatience = 5

// Install installs an app from one APK file, or from several split APKs, replacing an older
// version and keeping its data. Test-only APKs are allowed, and from Android 6 on all
// permissions are granted. A refusal of the package manager is an *InstallError.
func (d *Device) Install(ctx context.Context, apkFiles ...string) error {
	err := d.install(ctx, apkFiles)
	if err != nil {
		return d.failed("installing "+nameAPKs(apkFiles), err)
	}
	return nil
}

// nameAPKs names the first file and the number of the others.
func nameAPKs(files []string) string {
	switch len(files) {
	case 0:
		return "nothing"
	case 1:
		return files[0]
	}
	return files[0] + " and " + prose.Count(len(files)-1, "other", "others")
}

func (d *Device) install(ctx context.Context, apkFiles []string) error {
	files := make([]apkFile, 0, len(apkFiles))
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, name := range apkFiles {
		f, err := openAPK(name)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	streams, err := d.has(ctx, wire.FeatureCmd)
	if err != nil {
		return err
	}
	var answer string
	switch {
	case len(files) == 0:
		return &localError{"opening the APK", errors.New("none is named")}
	case len(files) > 1:
		answer, err = d.installParts(ctx, files, streams)
	case streams:
		answer, err = d.stream(ctx, fmt.Sprintf("exec:cmd package install -r -t -g -S %d", files[0].size), files[0])
	default:
		answer, err = d.installPushed(ctx, files[0])
	}
	if err != nil {
		return asLossIfSilent(err)
	}
	return installVerdict(nameAPKs(apkFiles), answer)
}

// apkFile is an open APK, with its size in bytes.
type apkFile struct {
	*os.File
	size int64
}

func openAPK(name string) (apkFile, error) {
	file, err := os.Open(name)
	if err != nil {
		return apkFile{}, &localError{"opening the APK", err}
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() == 0) {
		err = fmt.Errorf("%s is empty or no file", name)
	}
	if err != nil {
		file.Close()
		return apkFile{}, &localError{"opening the APK", err}
	}
	return apkFile{file, info.Size()}, nil
}

// stream sends an APK to the service and returns the service's answer.
func (d *Device) stream(ctx context.Context, service string, apk apkFile) (answer string, err error) {
	c, err := d.open(ctx, service)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.setMaxSilence(installPatience * d.options.SilenceTimeout)
	sent, sendErr := io.Copy(c, io.LimitReader(&localReader{apk}, apk.size))
	var local *localError
	switch {
	case errors.As(sendErr, &local):
		return "", sendErr
	case sendErr == nil && sent < apk.size:
		return "", &localError{"reading the APK", fmt.Errorf("%d bytes came, %d were there before", sent, apk.size)}
	}
	// A package manager that stops reading usually sends the reason.
	text, err := io.ReadAll(io.LimitReader(c, maxErrors))
	switch {
	case err != nil:
		return "", err
	case len(text) == 0 && sendErr != nil:
		return "", sendErr
	case len(text) == 0:
		return "", io.ErrUnexpectedEOF
	}
	return string(text), nil
}

// localReader marks its errors as local errors.
type localReader struct{ r io.Reader }

func (l *localReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && err != io.EOF {
		err = &localError{"reading the APK", err}
	}
	return n, err
}

// installPushed copies the APK to the device first (Android 6 and earlier).
func (d *Device) installPushed(ctx context.Context, apk apkFile) (answer string, err error) {
	path := "/data/local/tmp/" + marks.New() + ".apk"
	if err := d.Push(ctx, apk, path, 0o644, time.Time{}); err != nil {
		return "", err
	}
	defer d.remove(ctx, path)
	options := "-r -t"
	if sdk, err := d.sdk(ctx); err == nil && sdk >= 23 {
		options += " -g" // unknown to earlier versions
	}
	out, err := d.exec(ctx, installPatience*d.options.SilenceTimeout, "pm install "+options+" "+device.Quote(path))
	return string(out.Stdout) + string(out.Stderr), err
}

// remove deletes a file, even when ctx has ended.
func (d *Device) remove(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.options.ReplyTimeout)
	defer cancel()
	// A file that is left behind only takes space.
	_, _ = d.Exec(ctx, "rm -f "+device.Quote(path))
}

func (d *Device) sdk(ctx context.Context) (int, error) {
	out, err := d.Exec(ctx, "getprop ro.build.version.sdk")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
}

// installVerdict parses the package manager's answer: "Success", or "Failure [CODE: detail]"
// among other lines. The exit code means nothing on old devices.
func installVerdict(apkFile, answer string) error {
	var last string
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		if line == "Success" || strings.HasPrefix(line, "Success:") {
			return nil
		}
		if rest, ok := strings.CutPrefix(line, "Failure"); ok {
			code, detail, _ := strings.Cut(strings.Trim(strings.TrimSpace(rest), "[]"), ":")
			return &InstallError{APK: apkFile, Code: strings.TrimSpace(code), Detail: strings.TrimSpace(detail)}
		}
		if line != "" && last == "" {
			last = line
		}
	}
	if last == "" {
		last = "it answered nothing"
	}
	return &InstallError{APK: apkFile, Detail: last}
}

// Uninstall removes a package. A package that is not installed is no error.
func (d *Device) Uninstall(ctx context.Context, pkg string) error {
	doing := "uninstalling " + pkg
	out, err := d.exec(ctx, installPatience*d.options.SilenceTimeout, "pm uninstall "+device.Quote(pkg))
	if err != nil {
		return d.failed(doing, err)
	}
	answer := strings.TrimSpace(string(out.Stdout) + string(out.Stderr))
	if strings.Contains(answer, "Success") {
		return nil
	}
	// The wording for a package that is not installed differs between versions.
	there, err := d.Exec(ctx, "pm path "+device.Quote(pkg))
	if err != nil {
		return d.failed(doing, err)
	}
	if !strings.Contains(string(there.Stdout), "package:") {
		return nil
	}
	return d.failed(doing, fmt.Errorf("the device says %q", answer))
}
