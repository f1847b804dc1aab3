package packages

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/simulator/simapp"
)

// Install installs an app on the phone: one APK, or a base and its splits. Errors have the
// package manager's wording.
func (m *Manager) Install(parts ...[]byte) (*simapp.App, error) {
	app, contents, err := m.assemble(parts)
	switch {
	case err != nil:
		return nil, err
	case m.Files.Full:
		return nil, fmt.Errorf("INSTALL_FAILED_INSUFFICIENT_STORAGE")
	}
	m.Kill(app.Package)
	path := "/data/app/" + app.Package + "-1/base.apk"
	if m.API < 21 {
		path = "/data/app/" + app.Package + "-1.apk"
	}
	granted := map[string]bool{}
	if before := m.Apps[app.Package]; before != nil {
		granted = before.granted
		m.discard(before)
	}
	splits := slices.Sorted(maps.Keys(contents))[1:] // the first is the base, whose name is empty
	m.Apps[app.Package] = &Installed{
		App: app, Path: path, splits: splits, updated: m.Clock.Now(), uid: m.UID(app.Package), filter: m.least(), granted: granted,
	}
	return app, m.store(m.Apps[app.Package], contents)
}

// store writes the app's files: its APKs, and the unpacked native libraries for the phone.
func (m *Manager) store(a *Installed, contents map[string][]byte) error {
	folder := a.folder()
	if err := m.Files.MakeDir(folder, true); err != nil {
		return err
	}
	for i, name := range append([]string{""}, a.splits...) {
		apk := contents[name]
		if err := m.Files.Write(a.paths()[i], apk, 0o644); err != nil {
			return err
		}
		abi, libraries, err := m.libraries(apk)
		if err != nil {
			return fmt.Errorf("INSTALL_FAILED_INVALID_APK: %w", err)
		}
		a.abi = cmp.Or(a.abi, abi)
		lib := folder + "/lib/" + strings.TrimSuffix(abi, "-v8a")
		for _, name := range slices.Sorted(maps.Keys(libraries)) {
			if err := errors.Join(m.Files.MakeDir(lib, true), m.Files.Write(lib+"/"+name, make([]byte, libraries[name]), 0o755)); err != nil {
				return err
			}
		}
	}
	return nil
}

// libraries returns the native libraries that the phone uses from an APK: those for the first
// of its ABIs that has any (NativeLibraryHelper.copyNativeBinaries…).
func (m *Manager) libraries(apk []byte) (abi string, libraries map[string]int, err error) {
	for _, abi := range m.ABIs {
		if libraries, err = simapp.Libraries(apk, abi); err != nil || len(libraries) > 0 {
			return abi, libraries, err
		}
	}
	return "", nil, nil
}

// discard removes the app's files.
func (m *Manager) discard(a *Installed) {
	for _, name := range append(a.paths(), a.folder()+"/lib") {
		_ = m.Files.Remove(name, true) // missing files are fine
	}
}

// needsSplitsSince is the API level from which on a base that requires splits is refused
// without them (isSplitRequired).
const needsSplitsSince = 29

// assemble builds an app from its APKs (PackageInstallerSession.validateApkInstallLocked), and
// returns their contents by split name, which is "" for the base.
func (m *Manager) assemble(parts [][]byte) (base *simapp.App, contents map[string][]byte, err error) {
	var first *simapp.App
	contents = map[string][]byte{}
	for _, text := range parts {
		app, err := parseAPK(text)
		switch {
		case err != nil:
			return nil, nil, err
		case first == nil:
			first = app
		case app.Package != first.Package:
			return nil, nil, fmt.Errorf("INSTALL_FAILED_INVALID_APK: %s package %s inconsistent with %s", app.Split, app.Package, first.Package)
		case app.VersionCode != first.VersionCode:
			return nil, nil, fmt.Errorf("INSTALL_FAILED_INVALID_APK: %s version code %d inconsistent with %d", app.Split, app.VersionCode, first.VersionCode)
		}
		if contents[app.Split] != nil {
			return nil, nil, fmt.Errorf("INSTALL_FAILED_INVALID_APK: Split %s was defined multiple times", cmp.Or(app.Split, "null"))
		}
		contents[app.Split] = text
		if app.Split == "" {
			base = app
		}
	}
	switch {
	case base == nil:
		return nil, nil, errors.New("INSTALL_FAILED_INVALID_APK: Full install must include a base package")
	case base.NeedsSplits && len(parts) == 1 && m.API >= needsSplitsSince:
		return nil, nil, fmt.Errorf("INSTALL_FAILED_MISSING_SPLIT: Missing split for %s", base.Package)
	}
	return base, contents, nil
}

func parseAPK(apk []byte) (*simapp.App, error) {
	text, err := simapp.TextOf(apk)
	if err != nil {
		return nil, fmt.Errorf("INSTALL_PARSE_FAILED_NOT_APK: %w", err)
	}
	if !simapp.Is(text) {
		return nil, fmt.Errorf("INSTALL_PARSE_FAILED_NOT_APK: this is no simulated app: its first line is not %s", simapp.Format)
	}
	app, err := simapp.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("INSTALL_PARSE_FAILED_MANIFEST_MALFORMED: %v", err)
	}
	return app, nil
}
