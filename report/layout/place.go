package layout

import (
	"fmt"
	"slices"

	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/internal/words"
	"github.com/apkgate/apkgate/report/wording"
)

// contexts says where the runs of a finding ran: "Android 5.0.0 and 5.1.0",
// a device where no version is known, "" where nothing short can be said.
func (f finding) contexts() string {
	var versions, devices []string
	for _, h := range f.Hits {
		sdk := wording.Name(h.Run.Context["sdk"])
		if sdk != "" && !slices.Contains(versions, sdk) {
			versions = append(versions, sdk)
		}
		if d := wording.Model(h.Run.Context); d != "" && !slices.Contains(devices, d) {
			devices = append(devices, d)
		}
	}
	slices.SortFunc(versions, wording.CompareVersions)
	switch {
	case len(devices) == 1 && len(versions) == 1:
		return devices[0] + " with Android " + versions[0]
	case 1 <= len(versions) && len(versions) <= 3:
		return "Android " + words.List(versions)
	case len(versions) > 3:
		return fmt.Sprintf("%d versions of Android", len(versions))
	case len(devices) == 1:
		return devices[0]
	case len(devices) > 1:
		return fmt.Sprintf("%d devices", len(devices))
	}
	return ""
}

// device names the device of a run: "LG Nexus 5 (Android 5.0.0)", or the run's ID.
func device(r gate.RunVerdict) string {
	m, sdk := wording.Model(r.Context), wording.Name(r.Context["sdk"])
	switch {
	case m != "" && sdk != "":
		return m + " (Android " + sdk + ")"
	case sdk != "":
		return "Android " + sdk
	case m != "":
		return m
	}
	return wording.Name(r.ID)
}
