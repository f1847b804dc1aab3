package cli_test

import (
	"encoding/json"
	"fmt"
)

// labRun is a run of the small lab, with the properties in which runs differ.
type labRun struct {
	id, manufacturer, model, sdk, api, network string
	frames, smooth, durationMS                 float64
}

// line is the run as a line of a history.
func (r labRun) line() string {
	context, err := json.Marshal(map[string]string{
		"manufacturer": r.manufacturer, "model": r.model, "sdk": r.sdk, "api": r.api, "cpu": "x86", "network": r.network,
	})
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"format":"apkgate.run/1","id":%q,"app":{"package":"com.example.mail"},"scenario":"open-message",`+
		`"context":%s,"status":"complete","warnings":[],"iterations":[{"metrics":{"frames.count":%g,"frames.smooth_ratio":%g,"frames.duration_ms":%g}}]}`+"\n",
		r.id, context, r.frames, r.smooth, r.durationMS)
}

// smallLab is a small version of experiment B of the paper (sections 7.4 and 8.2), with made-up
// numbers. The history has 20 devices on two networks, which are four models with five versions of
// Android each; the new runs are of five devices with newer versions on which the app is far
// slower. Four of the five are models of the history; the Nexus 5X is new, and the only one with
// 6.0.0. For each model the history has five runs on a network, the fewest with which the paper's
// fences detect an outlier.
func smallLab() (history, upgraded []labRun) {
	models := [][2]string{{"Google", "Nexus 4"}, {"Google", "Nexus 7"}, {"Samsung", "Galaxy S4"}, {"Sony", "Xperia Z"}}
	versions := [][2]string{{"4.1.1", "16"}, {"4.2.2", "17"}, {"4.3", "18"}, {"4.4.2", "19"}, {"4.4.4", "19"}}
	for i, m := range models {
		for j, v := range versions {
			for k, network := range []string{"wifi", "3g"} {
				history = append(history, good(m, v, network, float64((7*i+3*j+5*k)%11)))
			}
		}
	}
	for i, u := range [][4]string{
		{"Google", "Nexus 4", "5.0.0", "21"}, {"Samsung", "Galaxy S4", "5.0.0", "21"},
		{"Google", "Nexus 7", "5.1.0", "22"}, {"Sony", "Xperia Z", "5.1.0", "22"},
		{"Google", "Nexus 5X", "6.0.0", "23"},
	} {
		upgraded = append(upgraded, labRun{
			id: fmt.Sprintf("U%d", i+1), manufacturer: u[0], model: u[1], sdk: u[2], api: u[3], network: "wifi",
			frames: 170 + float64(i), smooth: 0.08 + float64(i)/100, durationMS: 140 + float64(i),
		})
	}
	return history, upgraded
}

// good is a run of the unchanged app. The wobble, 0 to 10, is its noise.
func good(model, version [2]string, network string, wobble float64) labRun {
	return labRun{
		id: model[1] + " " + version[0] + " " + network, manufacturer: model[0], model: model[1],
		sdk: version[0], api: version[1], network: network,
		frames: 2140 + 2*wobble, smooth: 0.98 + wobble/1000, durationMS: 8 + wobble/20,
	}
}
