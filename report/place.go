package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/gate"
)

// contexts says where the runs of a finding ran: "Android 5.0.0 and 5.1.0",
// a device where no version is known, "" where nothing short can be said.
func (f finding) contexts() string {
	var versions, devices []string
	for _, h := range f.Hits {
		sdk := name(h.Run.Context["sdk"])
		if sdk != "" && !slices.Contains(versions, sdk) {
			versions = append(versions, sdk)
		}
		if d := model(h.Run.Context); d != "" && !slices.Contains(devices, d) {
			devices = append(devices, d)
		}
	}
	slices.SortFunc(versions, compareVersions)
	switch {
	case len(devices) == 1 && len(versions) == 1:
		return devices[0] + " with Android " + versions[0]
	case 1 <= len(versions) && len(versions) <= 3:
		return "Android " + list(versions)
	case len(versions) > 3:
		return fmt.Sprintf("%d versions of Android", len(versions))
	case len(devices) == 1:
		return devices[0]
	case len(devices) > 1:
		return fmt.Sprintf("%d devices", len(devices))
	}
	return ""
}

// compareVersions puts 9 before 10 and 5.0.2 before 5.1.
func compareVersions(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX == nil && errY == nil {
			return m - n
		}
		return strings.Compare(x, y)
	})
}

// model is a device for people: "LG Optimus L3".
func model(context map[string]string) string {
	maker, model := name(context["manufacturer"]), name(context["model"])
	if maker == "" || strings.HasPrefix(strings.ToLower(model), strings.ToLower(maker)) {
		return model
	}
	return strings.TrimSpace(maker + " " + model)
}

// device names the device of a run: "LG Nexus 5 (Android 5.0.0)", or the run's ID.
func device(r gate.RunVerdict) string {
	m, sdk := model(r.Context), name(r.Context["sdk"])
	switch {
	case m != "" && sdk != "":
		return m + " (Android " + sdk + ")"
	case sdk != "":
		return "Android " + sdk
	case m != "":
		return m
	}
	return name(r.ID)
}
