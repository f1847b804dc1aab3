package splits

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/internal/prose"
)

// toc is what is read of bundletool's table of contents (commands.proto, BuildApksResult;
// targeting.proto).
type toc struct {
	pkg      string
	variants []variant
	assets   []module // asset packs
}

// variant is a set of APKs for some devices; a device gets those of one variant.
type variant struct {
	number uint64
	wants  target
	sets   []module
}

// module are the APKs of a part of the app; a device gets those that suit it.
type module struct {
	name     string
	delivery uint64 // 1: with the app
	onDemand bool   // in files of bundletool before 0.10.2, which have no delivery
	wants    target
	featured bool // only for devices with some feature
	apks     []description
}

type description struct {
	path    string
	wants   target
	instant bool
	tiered  bool // for some textures or devices, which is ignored here
}

// target is what an APK or a variant is for.
type target struct{ abi, density, language, api *targeting }

func (t target) suits(d Device) bool {
	return t.abi.suitsABI(d) && t.density.suitsDensity(d) && t.language.suitsLanguage(d) && t.api.suitsAPI(d)
}

// installTime is the delivery of what comes with the app.
const installTime = 1

// choose returns the paths of the APKs for the device: those of the suitable variant with the
// highest number.
func (t toc) choose(d Device) (paths, notes []string, err error) {
	best := -1
	for i, v := range t.variants {
		if v.wants.suits(d) && !v.instant() && (best < 0 || v.number > t.variants[best].number) {
			best = i
		}
	}
	if best < 0 {
		return nil, nil, fmt.Errorf("%w (API level %d, %v, %d dpi)", errNone, d.API, d.ABIs, d.Density)
	}
	var later, guessed int
	for _, m := range append(slices.Clone(t.variants[best].sets), t.assets...) {
		if !m.comesWithApp() || !m.wants.api.suitsAPI(d) {
			later++
			continue
		}
		if m.featured {
			guessed++
		}
		for _, a := range m.apks {
			if !a.instant && a.wants.suits(d) {
				paths = append(paths, a.path)
			}
			if a.tiered {
				guessed++
			}
		}
	}
	switch {
	case len(paths) == 0:
		return nil, nil, errNone
	case len(paths) > MaxParts:
		return nil, nil, fmt.Errorf("%d of its APKs are for this device, at most %d are allowed", len(paths), MaxParts)
	}
	if later > 0 {
		notes = append(notes, fmt.Sprintf("%s of the app, delivered on demand or for other devices, %s not installed", prose.Count(later, "module", "modules"), prose.Plural(later, "is", "are")))
	}
	if guessed > 0 {
		notes = append(notes, "parts of the app are for devices with some kind of textures, tier or feature, which is not looked at: all of them are installed")
	}
	return paths, notes, nil
}

// comesWithApp reports whether a module is installed with the app.
func (m module) comesWithApp() bool {
	return m.delivery == installTime || m.delivery == 0 && !m.onDemand
}

// instant reports whether a variant is for apps that are not installed.
func (v variant) instant() bool {
	any := false
	for _, m := range v.sets {
		for _, a := range m.apks {
			if any = true; !a.instant {
				return false
			}
		}
	}
	return any
}
