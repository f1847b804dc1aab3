package energymeter

import (
	"fmt"
	"os"

	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/energy/symbolize"
	"github.com/apkgate/apkgate/trace/r8map"
)

// loadNames loads the source names of methods.
func (m *Meter) loadNames(b *Build) error {
	if !m.settings.Methods || b.naming != nil {
		return nil
	}
	if b.App.Mapping == "" {
		b.naming = symbolize.New(nil)
		return nil
	}
	file, err := os.Open(b.App.Mapping)
	if err != nil {
		return m.t.Final(loss.Configuration, fmt.Errorf("open the app's mapping: %w", err))
	}
	defer func() { _ = file.Close() }()
	mapping, err := r8map.Read(file)
	if err != nil {
		return m.t.Final(loss.Configuration, fmt.Errorf("read the app's mapping %s: %w", b.App.Mapping, err))
	}
	m.t.Journal.Doubts("the app's mapping "+b.App.Mapping+" can't all be read", mapping.Warnings)
	b.naming = symbolize.New(mapping)
	return nil
}
