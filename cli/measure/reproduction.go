package measure

import (
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
		root := c.Workspace(".")
		b.Base, b.Head = reproduction.File(root, base.APK), reproduction.File(root, cfg.App.APK)
	}
	return &b
}
