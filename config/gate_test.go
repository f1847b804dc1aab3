package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/gate"
)

// Without a configuration the gate is its preset, number for number.
func TestDefaultPolicyIsThePreset(t *testing.T) {
	for _, preset := range gate.Presets() {
		want, ok := gate.PolicyOf(preset)
		if !ok {
			t.Fatalf("no preset %q", preset)
		}
		if diff := cmp.Diff(want, config.DefaultGate(preset).Policy(config.Context{})); diff != "" {
			t.Errorf("preset %s differs (-gate +configuration):\n%s", preset, diff)
		}
	}
}
