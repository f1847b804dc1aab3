package terminal

import "testing"

// Colors are for terminals whose user has not disabled them (no-color.org).
func TestColor(t *testing.T) {
	for _, tc := range []struct {
		name     string
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"terminal", true, nil, true},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"empty NO_COLOR is none", true, map[string]string{"NO_COLOR": ""}, true},
		{"dumb terminal", true, map[string]string{"TERM": "dumb"}, false},
		{"pipe", false, nil, false},
	} {
		c := Console{Terminal: tc.terminal, Getenv: func(name string) string { return tc.env[name] }}
		if got := c.Color(); got != tc.want {
			t.Errorf("%s: colour %v, want %v", tc.name, got, tc.want)
		}
	}
}
