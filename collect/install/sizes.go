package install

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/internal/apk"
	"github.com/apkgate/apkgate/internal/apk/splits"
)

// sizesOf returns the metrics of the APK files of one app: their bytes, and their code. A file that
// is no APK has none: whether it can be installed is decided by the device.
func sizesOf(t *target.Target, chosen splits.Choice) map[string]float64 {
	code, err := apk.ReadCode(chosen.Files...)
	if err != nil {
		if !errors.Is(err, zip.ErrFormat) {
			t.Journal.Warnf("the size of the app is not measured: %v", chosen.Rename(err))
		}
		return nil
	}
	var bytes int64
	for _, file := range chosen.Files {
		info, err := os.Stat(file)
		if err != nil {
			return nil
		}
		bytes += info.Size()
	}
	return map[string]float64{
		"apk.size_bytes": float64(bytes), "apk.dex_files": float64(code.DexFiles), "apk.dex_methods": float64(code.Methods),
	}
}

// statSince is the API level (Android 6) that brought stat -c.
const statSince = 23

// Installed returns the size of an installed app, in bytes: its APKs, and the native libraries that
// were unpacked from them. Compiled code is not counted, since its size depends on how the device
// compiles. ok is false if the device does not report it.
func Installed(ctx context.Context, t *target.Target, pkg string) (bytes int64, ok bool, err error) {
	if t.Facts.API < statSince {
		return 0, false, nil
	}
	text, err := t.Output(ctx, "pm", "path", pkg)
	if err != nil {
		return 0, false, fmt.Errorf("look for the files of %s: %w", pkg, err)
	}
	var files []string
	for line := range strings.Lines(text) {
		if file, is := strings.CutPrefix(strings.TrimSpace(line), "package:"); is && strings.HasPrefix(file, "/") {
			files = append(files, file)
		}
	}
	if len(files) == 0 || len(files) > maxFiles {
		return 0, false, nil
	}
	apks := len(files)
	libraries, err := librariesOf(ctx, t, path.Join(path.Dir(files[0]), "lib"))
	if err != nil {
		return 0, false, err
	}
	files = append(files, libraries...)
	out, err := t.Exec(ctx, append([]string{"stat", "-c", "%s"}, files...)...)
	if err != nil {
		return 0, false, fmt.Errorf("read how large %s is: %w", pkg, err)
	}
	sizes := strings.Fields(string(out.Stdout))
	if len(sizes) != len(files) || out.ExitCode != 0 {
		t.Journal.Warnf("how much %s takes on the device is not measured: it reported the size of %d of %d files", pkg, len(sizes), apks+len(libraries))
		return 0, false, nil
	}
	for _, size := range sizes {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil || n < 0 || bytes > maxBytes {
			return 0, false, nil
		}
		bytes += n
	}
	return bytes, true, nil
}

// Limits of an app's files on a device.
const (
	maxFiles = 2000
	maxBytes = 1 << 50
)

// librariesOf returns the files in the folders of native libraries, one for each ABI; none if
// Android left them in the APKs.
func librariesOf(ctx context.Context, t *target.Target, dir string) ([]string, error) {
	names := func(dir string) ([]string, error) {
		out, err := t.Ask(ctx, device.Quote("ls", dir))
		if err != nil {
			return nil, fmt.Errorf("look for native libraries: %w", err)
		}
		if out.ExitCode != 0 {
			return nil, nil
		}
		return strings.Fields(string(out.Stdout)), nil
	}
	abis, err := names(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, abi := range abis[:min(len(abis), 10)] {
		libraries, err := names(path.Join(dir, abi))
		if err != nil {
			return nil, err
		}
		for _, name := range libraries[:min(len(libraries), maxFiles)] {
			files = append(files, path.Join(dir, abi, name))
		}
	}
	return files, nil
}
