package adb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/apkgate/apkgate/device"
)

// partsSince is the API level (Android 5) from which on an app may consist of several APKs.
const partsSince = 21

// session is an installation of an app that consists of several APKs: pm install-create,
// install-write for each, install-commit (PackageManagerShellCommand.java).
type session struct {
	device  *Device
	command string // "cmd package", "pm" before Android 7
	id      string
}

// installParts installs an app from several APKs. If one of them fails, the session is
// abandoned.
func (d *Device) installParts(ctx context.Context, files []apkFile, cmd bool) (answer string, err error) {
	s := &session{device: d, command: "cmd package"}
	options := "-r -t -g"
	if !cmd {
		sdk, err := d.sdk(ctx)
		switch {
		case err != nil:
			return "", err
		case sdk < partsSince:
			return "", &InstallError{APK: fmt.Sprintf("%d APKs", len(files)), Detail: "Android 5 and later take an app in several, and this is older"}
		case sdk < 23:
			options = "-r -t"
		}
		s.command = "pm"
	}
	if answer, err := s.create(ctx, options, files); err != nil || s.id == "" {
		return answer, err
	}
	for i, f := range files {
		answer, err := s.write(ctx, i, f)
		if err != nil || installVerdict(f.Name(), answer) != nil {
			s.abandon(ctx)
			return answer, err
		}
	}
	return s.run(ctx, "install-commit "+s.id)
}

// created matches the answer to install-create, with the session's id.
var created = regexp.MustCompile(`(?m)^Success: created install session \[([0-9]{1,20})\]`)

// create begins the session. If the session has no id afterwards, the answer has the reason.
func (s *session) create(ctx context.Context, options string, files []apkFile) (answer string, err error) {
	var total int64
	for _, f := range files {
		total += f.size
	}
	answer, err = s.run(ctx, fmt.Sprintf("install-create %s -S %d", options, total))
	if m := created.FindStringSubmatch(answer); m != nil {
		s.id = m[1]
	} else if err == nil && installVerdict("", answer) == nil {
		err = errors.New("the package manager names no session")
	}
	return answer, err
}

// write sends one APK. Its name within the session only distinguishes the splits.
func (s *session) write(ctx context.Context, i int, f apkFile) (answer string, err error) {
	name := device.Quote(fmt.Sprintf("%d_%s", i, filepath.Base(f.Name())))
	return s.device.stream(ctx, fmt.Sprintf("exec:%s install-write -S %d %s %s -", s.command, f.size, s.id, name), f)
}

// abandon frees the storage of the session, even when ctx has ended.
func (s *session) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.device.options.ReplyTimeout)
	defer cancel()
	// The device removes an abandoned session by itself after some days.
	_, _ = s.run(ctx, "install-abandon "+s.id)
}

func (s *session) run(ctx context.Context, what string) (answer string, err error) {
	out, err := s.device.exec(ctx, installPatience*s.device.options.SilenceTimeout, s.command+" "+what)
	return string(out.Stdout) + string(out.Stderr), err
}
