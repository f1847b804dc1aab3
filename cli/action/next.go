package action

import (
	"path/filepath"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/reproduction"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// builds returns what a verdict is reproduced with on a computer; nil where that takes a farm.
func builds(c terminal.Console, cfg *config.Config, f *runFlags, base interleaved.Base) *reproduction.Builds {
	if f.OnFarm {
		return nil
	}
	b := reproduction.Builds{Scenarios: len(cfg.Scenarios)}
	if base.APK != "" && base.From == "" && cfg.App.APK != "" {
		b.Base, b.Head = shown(c, base.APK), shown(c, cfg.App.APK)
	}
	return &b
}

// configShown returns the path of a configuration for a command, "" for one in its usual place.
func configShown(c terminal.Console, path string) string {
	if path == "" || filepath.Base(path) == config.FileName {
		return ""
	}
	return shown(c, path)
}

// shown returns a file's path as in the repository, or its name if it is elsewhere.
func shown(c terminal.Console, path string) string {
	if !filepath.IsAbs(path) {
		return filepath.ToSlash(path)
	}
	at, err := filepath.Rel(c.Workspace("."), path)
	if err != nil || !filepath.IsLocal(at) {
		return filepath.Base(path)
	}
	return filepath.ToSlash(at)
}
