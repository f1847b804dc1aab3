package splits

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/internal/prose"
)

// part is an APK by its name.
type part struct {
	name   string
	module string // the module of the split: "base", or a feature's name
	config string // what it is for, "" of a module itself: "arm64_v8a", "xxhdpi", "en"
}

// The names of splits: those that Android gives installed ones (split_config.en.apk,
// split_map.config.xxhdpi.apk) and bundletool's (base-en.apk, map-xxhdpi.apk, base-master.apk,
// base-master_2.apk).
var (
	installedName = regexp.MustCompile(`^split_(?:(.+)\.)?config\.([A-Za-z0-9_]+)$`)
	plainName     = regexp.MustCompile(`^config\.([A-Za-z0-9_]+)$`)
	bundleName    = regexp.MustCompile(`^(.+)-([A-Za-z0-9_]+?)(?:_[2-9])?$`)
	languageName  = regexp.MustCompile(`^[a-z]{2,3}$`)
)

func parse(name string) part {
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if m := installedName.FindStringSubmatch(stem); m != nil {
		return part{name, orBase(m[1]), m[2]}
	}
	if m := plainName.FindStringSubmatch(stem); m != nil {
		return part{name, "base", m[1]}
	}
	if m := bundleName.FindStringSubmatch(stem); m != nil && (m[2] == "master" || dimension(m[2]) != "") {
		if m[2] == "master" {
			return part{name, m[1], ""}
		}
		return part{name, m[1], m[2]}
	}
	return part{name: name, module: stem}
}

func orBase(module string) string {
	if module == "" {
		return "base"
	}
	return module
}

// dimension returns what the configuration of a split is about: "abi", "density", "language", "" if
// unknown.
func dimension(config string) string {
	switch {
	case config == "":
		return ""
	case slices.Contains(abiNames, strings.ReplaceAll(config, "_", "-")), config == "x86_64":
		return "abi"
	case densities[config] > 0:
		return "density"
	case languageName.MatchString(config):
		return "language"
	}
	return ""
}

// byName chooses only by names: for each module the best ABI, the best density, the device's
// languages, and everything else.
func byName(names []string, d Device) (chosen, notes []string, err error) {
	parts := make([]part, len(names))
	for i, name := range names {
		parts[i] = parse(name)
	}
	if i := slices.IndexFunc(parts, func(p part) bool { return p.module == "universal" }); i >= 0 && len(parts) > 1 {
		return []string{names[i]}, []string{fmt.Sprintf("of %s the one for all devices is installed, %s", prose.Count(len(names), "APK", "APKs"), names[i])}, nil
	}
	left := 0
	for _, p := range parts {
		if suits(p, parts, d) {
			chosen = append(chosen, p.name)
		} else {
			left++
		}
	}
	switch {
	case len(chosen) == 0:
		return nil, nil, errNone
	case len(chosen) > MaxParts:
		return nil, nil, fmt.Errorf("%d of its APKs are for this device, at most %d are allowed", len(chosen), MaxParts)
	case !slices.ContainsFunc(parts, func(p part) bool { return p.config == "" }):
		return nil, nil, errors.New("none of its APKs is the base of an app")
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s are installed, chosen by their names: ABI, density, language", len(chosen), prose.Count(len(names), "APK", "APKs")))
	}
	return chosen, notes, nil
}

// suits reports whether a part is for the device, among the others of its module.
func suits(p part, all []part, d Device) bool {
	var siblings []string // the configurations of its kind
	kind := dimension(p.config)
	for _, other := range all {
		if other.module == p.module && dimension(other.config) == kind {
			siblings = append(siblings, other.config)
		}
	}
	switch kind {
	case "abi":
		return (&targeting{values: []string{abiOf(p.config)}, alternatives: mapped(siblings, abiOf, p.config)}).suitsABI(d)
	case "density":
		return (&targeting{dpi: []int{densities[p.config]}, otherDPI: dpiOf(siblings)}).suitsDensity(d)
	case "language":
		return len(d.Languages) == 0 || slices.Contains(d.Languages, p.config)
	}
	return true
}

// abiOf returns an ABI as Android names it: arm64-v8a for arm64_v8a.
func abiOf(config string) string {
	if config == "x86_64" {
		return config
	}
	return strings.ReplaceAll(config, "_", "-")
}

func mapped(configs []string, f func(string) string, but string) []string {
	var out []string
	for _, c := range configs {
		if c != but {
			out = append(out, f(c))
		}
	}
	return out
}

func dpiOf(configs []string) []int {
	var out []int
	for _, c := range configs {
		out = append(out, densities[c])
	}
	return out
}
