package avd

import (
	"context"
	"fmt"

	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// Check checks for the SDK's programs and system images, and for hardware acceleration.
func (l *Lab) Check(ctx context.Context) []device.Finding {
	s := l.sdk()
	findings := []device.Finding{
		checkManager(s),
		checkADB(s),
		s.checkImages(),
	}
	e, err := l.ask(ctx, s)
	findings = append(findings, boot.Finding("emulator", err, fmt.Sprintf("%s, version %s", e.path, e.version)))
	if err != nil {
		return findings
	}
	accel, err := l.accelerated(ctx, e)
	if err == nil {
		err = accel.check()
	}
	return append(findings, boot.Finding("acceleration", err, accel.summary()))
}

// checkManager checks for avdmanager, which creates AVDs.
func checkManager(s sdk) device.Finding {
	if s.avdmanager == "" {
		return device.Finding{Name: "avdmanager", Detail: "neither the SDK's folder nor the PATH has it; existing AVDs can still be booted", Hint: installEmulator}
	}
	return device.Finding{Name: "avdmanager", OK: true, Detail: s.avdmanager}
}

// checkADB checks for adb, which is optional.
func checkADB(s sdk) device.Finding {
	detail := s.adb
	if detail == "" {
		detail = "not found: without an adb server, emulators are reached at their own ports"
	}
	return device.Finding{Name: "adb", OK: true, Detail: detail}
}

// checkImages returns the finding for the installed system images.
func (s sdk) checkImages() device.Finding {
	const name, most = "system images", 5
	if all := s.installed(); len(all) > 0 {
		return device.Finding{Name: name, OK: true, Detail: prose.Few(all, most)}
	}
	where := s.root
	if where == "" {
		where = "the SDK, which was not found (ANDROID_HOME)"
	}
	return device.Finding{
		Name: name, Detail: "none is installed in " + where,
		Hint: fmt.Sprintf("install one and accept its licence with: sdkmanager %q", imagePackage(boot.Spec{Android: "34", Image: "google_apis", ABI: hostABI()})),
	}
}
