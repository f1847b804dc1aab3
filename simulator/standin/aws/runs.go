package aws

import (
	"slices"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

func (a *account) run(name string) (*Run, error) {
	at := slices.IndexFunc(a.Runs, func(r Run) bool { return r.ARN == name })
	if at < 0 {
		return nil, missing("run", name)
	}
	return &a.Runs[at], nil
}

// getRun returns a run, which ends when it is polled.
func getRun(folder state.Folder, a *account, in input) (any, error) {
	r, err := a.run(in.ARN)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Status == "COMPLETED":
	case r.Status == "STOPPING":
		if !folder.Fails(Stopping) {
			r.Status = "COMPLETED"
		}
	case folder.Fails(Waiting):
		r.Status = "PENDING_CONCURRENCY"
	case folder.Fails(Endless):
		r.Status = "RUNNING"
	default:
		r.Status = "COMPLETED"
	}
	return object{"run": r.told()}, nil
}

func listRuns(_ state.Folder, a *account, _ input) (any, error) {
	list := []any{}
	for _, r := range slices.Backward(a.Runs) {
		list = append(list, r.told())
	}
	return object{"runs": list}, nil
}

func stopRun(_ state.Folder, a *account, in input) (any, error) {
	r, err := a.run(in.ARN)
	if err != nil {
		return nil, err
	}
	if r.Status != "COMPLETED" {
		r.Status = "STOPPING"
		for i := range r.Jobs {
			r.Jobs[i].Result, r.Jobs[i].Results = "STOPPED", false
		}
	}
	return object{"run": r.told()}, nil
}

// listJobs returns the result of each device: each took slightly more than 74 s, and its setup
// a minute.
func listJobs(_ state.Folder, a *account, in input) (any, error) {
	r, err := a.run(in.ARN)
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, j := range r.Jobs {
		list = append(list, object{"arn": j.ARN, "name": j.Phone.Name, "type": "INSTRUMENTATION", "status": r.Status, "result": j.Result,
			"device": j.Phone, "deviceMinutes": object{"total": 2.2, "metered": 1.2345, "unmetered": 0.0}})
	}
	return object{"jobs": list}, nil
}

// listArtifacts returns the files of a job, including the one that the test spec names.
func listArtifacts(folder state.Folder, a *account, in input) (any, error) {
	if in.Type != "FILE" {
		return nil, argument("Invalid type", in.Type)
	}
	for _, r := range a.Runs {
		for _, j := range r.Jobs {
			if j.ARN != in.ARN {
				continue
			}
			log, err := signed(folder, "log")
			if err != nil {
				return nil, err
			}
			results, err := signed(folder, "artifacts/"+lastOf(j.ARN))
			return object{"artifacts": []any{
				object{"arn": j.ARN, "name": "Logcat", "type": "DEVICE_LOG", "extension": "logcat", "url": log},
				object{"arn": j.ARN, "name": "Customer Artifacts", "type": "CUSTOMER_ARTIFACT", "extension": "zip", "url": results},
			}}, err
		}
	}
	return nil, missing("job", in.ARN)
}
