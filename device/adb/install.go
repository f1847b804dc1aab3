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
	"github.com/apkgate/apkgate/device/adb/wire"
)

// InstallError is the package manager's no.
type InstallError struct {
	APK string
	// Code is "INSTALL_FAILED_…" or "INSTALL_PARSE_FAILED_…", "" where the device
	// gave none.
	Code string
	// Detail is what else the device said.
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

// Is makes errors.Is(err, ErrNoSpace) true where that was the reason.
func (e *InstallError) Is(target error) bool {
	return target == ErrNoSpace && e.Code == "INSTALL_FAILED_INSUFFICIENT_STORAGE"
}

// Hint is what to do about it, "" where there is nothing to say.
func (e *InstallError) Hint() string { return installHints[e.Code] }

// installHints are for the codes that users meet (PackageManager.java).
var installHints = map[string]string{
	"INSTALL_FAILED_ALREADY_EXISTS":                  "uninstall the package first",
	"INSTALL_FAILED_UPDATE_INCOMPATIBLE":             "the installed app is signed with another key: uninstall it first, or sign both builds alike",
	"INSTALL_FAILED_VERSION_DOWNGRADE":               "a newer version is installed: uninstall it first",
	"INSTALL_FAILED_INSUFFICIENT_STORAGE":            "free space in /data on the device",
	"INSTALL_FAILED_NO_MATCHING_ABIS":                "the APK has native code for other processors than the device's: build for its ABI",
	"INSTALL_FAILED_CPU_ABI_INCOMPATIBLE":            "the APK has native code for other processors than the device's: build for its ABI",
	"INSTALL_FAILED_OLDER_SDK":                       "the app's minSdkVersion is above the device's Android version",
	"INSTALL_FAILED_DEPRECATED_SDK_VERSION":          "the app's targetSdkVersion is too low for the device's Android version",
	"INSTALL_FAILED_MISSING_SPLIT":                   "this is one part of a bundle: build one APK that holds all of it",
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
	"INSTALL_FAILED_ABORTED":                         "somebody or something on the device said no: look at its screen",
	"INSTALL_FAILED_INTERNAL_ERROR":                  "look at the device's log; if nothing is there, restart the device",
	"INSTALL_PARSE_FAILED_RESOURCES_ARSC_COMPRESSED": "store resources.arsc in the APK uncompressed and aligned",
}

// installPatience is how many times the usual silence an install may last.
const installPatience = 5

// Install installs the APK file, replacing an older one and keeping its data,
// with test-only APKs allowed and, from Android 6 on, all permissions granted.
// The package manager's no is an *InstallError.
func (d *Device) Install(ctx context.Context, apkFile string) error {
	err := d.install(ctx, apkFile)
	if err != nil {
		return d.failed("installing "+apkFile, err)
	}
	return nil
}

func (d *Device) install(ctx context.Context, apkFile string) error {
	file, err := os.Open(apkFile)
	if err != nil {
		return &localError{"opening the APK", err}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return &localError{"opening the APK", err}
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return &localError{"opening the APK", errors.New("it is empty or no file")}
	}
	streams, err := d.has(ctx, wire.FeatureCmd)
	if err != nil {
		return err
	}
	var answer string
	if streams {
		answer, err = d.installStream(ctx, file, info.Size())
	} else {
		answer, err = d.installPushed(ctx, file)
	}
	if err != nil {
		return unanswered(err)
	}
	return installVerdict(apkFile, answer)
}

// installStream feeds the APK to the package manager (Android 7 and later).
func (d *Device) installStream(ctx context.Context, apk io.Reader, size int64) (answer string, err error) {
	c, err := d.open(ctx, fmt.Sprintf("exec:cmd package install -r -t -g -S %d", size))
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.allow(installPatience * d.options.SilenceTimeout)
	sent, sendErr := io.Copy(c, io.LimitReader(&localReader{apk}, size))
	var local *localError
	switch {
	case errors.As(sendErr, &local):
		return "", sendErr
	case sendErr == nil && sent < size:
		return "", &localError{"reading the APK", fmt.Errorf("%d bytes came, %d were there before", sent, size)}
	}
	// A package manager that stops listening says why, as a rule.
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

// localReader marks its errors as this side's.
type localReader struct{ r io.Reader }

func (l *localReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && err != io.EOF {
		err = &localError{"reading the APK", err}
	}
	return n, err
}

// installPushed puts the APK on the device first (Android 6 and earlier).
func (d *Device) installPushed(ctx context.Context, apk io.Reader) (answer string, err error) {
	path := "/data/local/tmp/" + newMark() + ".apk"
	if err := d.Push(ctx, apk, path, 0o644, time.Time{}); err != nil {
		return "", err
	}
	defer d.remove(ctx, path)
	options := "-r -t"
	if sdk, err := d.sdk(ctx); err == nil && sdk >= 23 {
		options += " -g" // not known before
	}
	out, err := d.exec(ctx, installPatience*d.options.SilenceTimeout, "pm install "+options+" "+device.Quote(path))
	return string(out.Stdout) + string(out.Stderr), err
}

// remove deletes a file, even when ctx has ended.
func (d *Device) remove(ctx context.Context, path string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.options.ReplyTimeout)
	defer cancel()
	// What is left behind takes space and does no other harm.
	_, _ = d.Exec(ctx, "rm -f "+device.Quote(path))
}

func (d *Device) sdk(ctx context.Context) (int, error) {
	out, err := d.Exec(ctx, "getprop ro.build.version.sdk")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out.Stdout)))
}

// installVerdict reads the package manager's answer: "Success", or "Failure
// [CODE: detail]" among other lines. Its exit code tells nothing on old devices.
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

// Uninstall removes a package; one that is not there is no error.
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
	// Each version has its own words for a package that is not there.
	there, err := d.Exec(ctx, "pm path "+device.Quote(pkg))
	if err != nil {
		return d.failed(doing, err)
	}
	if !strings.Contains(string(there.Stdout), "package:") {
		return nil
	}
	return d.failed(doing, fmt.Errorf("the device says %q", answer))
}
