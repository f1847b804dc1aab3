// Package install installs the measured build on a device.
//
// It owns which of a bundle's APKs are for the device, and how large the build is. It does not own
// restoring the earlier state.
package install

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/internal/apk/splits"
)

// APKs installs the configured files: APK files, or those for this device in a folder of APKs or a
// bundle's archive. note is called with the files before anything is installed. It returns the
// metrics of what was installed, nil if that is no APK.
func APKs(ctx context.Context, t *target.Target, paths []string, note func(files []string) error) (sizes map[string]float64, err error) {
	var spec splits.Device
	if splits.Chooses(paths) {
		if spec, err = specOf(ctx, t); err != nil {
			return nil, err
		}
	}
	chosen, err := splits.Of(paths, spec)
	if err != nil {
		return nil, t.Final(loss.Configuration, err)
	}
	defer chosen.Close()
	for _, note := range chosen.Notes {
		t.Journal.Warnf("installing %s: %s", paths[0], note)
	}
	if err := note(chosen.Files); err != nil {
		return nil, err
	}
	if err := t.Device().Install(ctx, chosen.Files...); err != nil {
		return nil, t.Final(loss.Infrastructure, chosen.Rename(err))
	}
	return sizesOf(t, chosen), nil
}

// beside is the path of an APK on the device while it is installed from there.
const beside = "/data/local/tmp/apkgate-beside.apk"

// ForAll installs an APK that all apps may see and bind to, whatever their manifests say, against
// the default of Android 11 and later.
func ForAll(ctx context.Context, t *target.Target, file string) error {
	if t.Facts.API < 30 {
		_, err := APKs(ctx, t, []string{file}, func([]string) error { return nil })
		return err
	}
	apk, err := os.Open(file)
	if err != nil {
		return t.Final(loss.Configuration, fmt.Errorf("open an APK: %w", err))
	}
	defer func() { _ = apk.Close() }()
	if err := t.Record(ctx, ":", target.Change{Kind: target.Files, Put: beside}); err != nil {
		return err
	}
	if err := t.Device().Push(ctx, apk, beside, 0o644, t.Started); err != nil {
		return fmt.Errorf("push %s to the device: %w", file, err)
	}
	out, err := t.Exec(ctx, "pm", "install", "-r", "-t", "-g", "--force-queryable", beside)
	if err != nil {
		return fmt.Errorf("install %s: %w", file, err)
	}
	if out.ExitCode != 0 || !bytes.Contains(out.Stdout, []byte("Success")) {
		return t.Final(loss.Infrastructure, fmt.Errorf("install %s: the device says %q", file, target.FirstLine(out.Stdout, out.Stderr)))
	}
	return t.Try(ctx, "rm", beside)
}

// specOf returns the properties that the choice of an app's APKs depends on. Unknown ones stay
// empty.
func specOf(ctx context.Context, t *target.Target) (splits.Device, error) {
	p := t.Facts.Properties
	spec := splits.Device{API: t.Facts.API, ABIs: listed(p["ro.product.cpu.abilist"])}
	if len(spec.ABIs) == 0 { // before Android 5
		spec.ABIs = listed(p["ro.product.cpu.abi"] + "," + p["ro.product.cpu.abi2"])
	}
	density, err := t.Output(ctx, "wm", "density")
	if err != nil {
		return spec, err
	}
	spec.Density = densityOf(density, p["ro.sf.lcd_density"])
	locales, err := t.Output(ctx, "settings", "get", "system", "system_locales")
	spec.Languages = languagesOf(locales, p["persist.sys.locale"], p["ro.product.locale"], p["persist.sys.language"])
	return spec, err
}

func listed(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

var densityLine = regexp.MustCompile(`(?m)^(?:Physical|Override) density: ([0-9]{2,4})\s*$`)

// densityOf returns the density of the screen: the user's setting, else its own.
func densityOf(answer, property string) int {
	if all := densityLine.FindAllStringSubmatch(answer, -1); len(all) > 0 {
		property = all[len(all)-1][1]
	}
	dpi, err := strconv.Atoi(strings.TrimSpace(property))
	if err != nil || dpi < 0 || dpi > 10_000 {
		return 0
	}
	return dpi
}

var language = regexp.MustCompile(`^[a-z]{2,3}$`)

// languagesOf returns the languages of the first source that names any: "en-US,de-DE".
func languagesOf(sources ...string) []string {
	for _, source := range sources {
		var found []string
		for _, locale := range listed(strings.TrimSpace(source)) {
			name, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(locale), "_", "-"), "-")
			if language.MatchString(name) {
				found = append(found, name)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
