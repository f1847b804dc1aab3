package gradle

import "slices"

var notADevice = []string{"groups", "create", "register", "maybeCreate"}

// readEmulator records a device of testOptions.managedDevices.
func (p *Project) readEmulator(m *Module, in []string, b block) {
	if !b.open || len(in) < 2 || !slices.Contains(in, "testOptions") {
		return
	}
	switch in[len(in)-1] {
	case "devices", "localDevices", "allDevices":
	default:
		return
	}
	e := Emulator{Name: b.called(), Source: "google"}
	if e.Name == "" || slices.Contains(notADevice, e.Name) || len(m.emulators) >= maxFound {
		return
	}
	for _, s := range b.body {
		for key, to := range map[string]*string{"device": &e.Device, "apiLevel": &e.API, "sdkVersion": &e.API, "systemImageSource": &e.Source} {
			if value, given := s.assigns(key); given {
				if *to = p.valueOr(m, value); *to == unknown {
					*to = ""
				}
			}
		}
	}
	m.emulators = append(m.emulators, e)
}
