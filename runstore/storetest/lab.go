package storetest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/apkgate/apkgate/run"
)

// A made-up lab, for benchmarks: its models, versions of Android and networks.
const (
	labModels   = 20
	labSDKs     = 5
	labNetworks = 3
	LabContexts = labModels * labSDKs * labNetworks
)

// LabContext is one of the lab's contexts, of which there are LabContexts.
func LabContext(i int) map[string]string {
	model, sdk, network := i%labModels, i/labModels%labSDKs, i/labModels/labSDKs%labNetworks
	return map[string]string{
		"sdk": fmt.Sprint(4+sdk, ".0"), "api": strconv.Itoa(16 + sdk), "manufacturer": fmt.Sprint("maker", model%7),
		"model": fmt.Sprint("model", model), "cpu": []string{"x86", "arm64"}[model%2], "network": []string{"wifi", "4g", "3g"}[network],
	}
}

// LabRun is the i-th run of the lab, one a minute: ten repetitions of five buckets and three
// metrics, in each context in turn.
func LabRun(random *rand.Rand, i int) run.Run {
	metrics := func(frames float64) map[string]float64 {
		return map[string]float64{
			"frames.count": frames + float64(random.IntN(9)), "frames.smooth_ratio": 0.9 + random.Float64()/10,
			"frames.duration_ms": 8 + 4*random.Float64(),
		}
	}
	r := run.Run{
		Format: run.Format, ID: fmt.Sprintf("%016x", random.Uint64()),
		Started: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute),
		App:     run.App{Package: "org.example.mail"}, Scenario: "open-message", Session: strconv.Itoa(i / 10),
		Context: LabContext(i % LabContexts), Status: run.Complete,
	}
	for range 10 {
		it := run.Iteration{Metrics: metrics(250)}
		for _, name := range []string{run.Start, "E1", "E2", "E3", "E4"} {
			it.Events = append(it.Events, run.Bucket{Name: name, Metrics: metrics(48)})
		}
		r.Iterations = append(r.Iterations, it)
	}
	return r
}
