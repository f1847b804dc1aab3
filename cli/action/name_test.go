package action

import (
	"testing"

	"github.com/apkgate/apkgate/usecase/settings"
)

func TestActionNamesConfigurationsByTheirPath(t *testing.T) {
	for _, c := range []struct{ dir, config, want string }{
		{"", "", "apkgate.yml"}, {"apps/mail", "", "apps/mail/apkgate.yml"}, {"", "./ci/gate.yml", "ci/gate.yml"},
	} {
		f := flags{workingDirectory: c.dir, ConfigFlags: settings.ConfigFlags{Config: c.config}}
		if got := defaultName(f); got != c.want {
			t.Errorf("%+v is named %q, want %q", c, got, c.want)
		}
	}
}
