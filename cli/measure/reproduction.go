package measure

import (
	"path/filepath"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/interleaved"
	"github.com/apkgate/apkgate/usecase/reproduction"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// BuildsOf returns what a verdict is reproduced with on a computer; nil where that takes a farm.
func BuildsOf(c terminal.Console, cfg *config.Config, onFarm bool, base interleaved.Base) *reproduction.Builds {
	if onFarm {
		return nil
	}
	b := reproduction.Builds{Scenarios: len(cfg.Scenarios)}
	if base.APK != "" && base.From == "" && cfg.App.APK != "" {
		b.Base, b.Head = shown(c, base.APK), shown(c, cfg.App.APK)
	}
	return &b
}

// ConfigShown returns the path of a configuration for a command, "" for one in its usual place.
func ConfigShown(c terminal.Console, path string) string {
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
