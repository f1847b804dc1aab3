package aws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/simulator/standin/state"
)

// input is the arguments of an operation: the supported members of the service's model. Others
// are refused, as by the real command.
type input struct {
	ARN, ProjectARN, Name, Type, ContentType, AppARN string
	Filters                                          []filter
	Test                                             struct {
		Type, TestPackageARN, TestSpecARN string
		Parameters                        map[string]string
	}
	DeviceSelectionConfiguration struct {
		Filters    []filter
		MaxDevices int
	}
	Configuration          struct{ BillingMethod string }
	ExecutionConfiguration struct {
		JobTimeoutMinutes int
		VideoCapture      bool
	}
}

type filter struct {
	Attribute, Operator string
	Values              []string
}

// operations are the simulated operations of the service, by their names in the model.
var operations = map[string]func(state.Folder, *account, input) (any, error){
	"GetProject": func(_ state.Folder, _ *account, in input) (any, error) {
		if in.ARN != Project {
			return nil, missing("project", in.ARN)
		}
		return object{"project": object{"arn": Project, "name": "mail-perf", "defaultJobTimeoutMinutes": 150}}, nil
	},
	"ListDevices":   listDevices,
	"CreateUpload":  createUpload,
	"GetUpload":     getUpload,
	"ListUploads":   listUploads,
	"DeleteUpload":  deleteUpload,
	"ScheduleRun":   scheduleRun,
	"GetRun":        getRun,
	"ListRuns":      listRuns,
	"StopRun":       stopRun,
	"ListJobs":      listJobs,
	"ListArtifacts": listArtifacts,
}

type object = map[string]any

func missing(what, name string) error {
	return &refusal{"NotFoundException", fmt.Sprintf("No %s with ARN %s was found.", what, name)}
}

// answer returns the service's answer to an operation, as JSON.
func answer(folder state.Folder, operation string, body []byte) (text []byte, err error) {
	do, ok := operations[operation]
	if !ok {
		return nil, &refusal{"UnknownOperationException", operation}
	}
	if folder.Fails(Throttled) {
		return nil, &refusal{"ThrottlingException", "Rate exceeded"}
	}
	if operation == "GetRun" && folder.Fails(Unanswered) {
		return nil, &refusal{"InternalFailure", "The request processing has failed because of an unknown error."}
	}
	var in input
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return nil, argument(err.Error())
	}
	err = change(folder, func(a *account) error {
		value, err := do(folder, a, in)
		if err == nil {
			text, err = json.Marshal(value)
		}
		return err
	})
	if err == nil && operation == "ScheduleRun" {
		hold(folder, SlowSubmit)
	}
	return text, err
}

func listDevices(_ state.Folder, _ *account, in input) (any, error) {
	list := slices.Clone(phones)
	for _, f := range in.Filters {
		if f.Operator != "EQUALS" || len(f.Values) != 1 {
			return nil, argument("Invalid operator", f.Operator)
		}
		list = slices.DeleteFunc(list, func(p Phone) bool {
			return map[string]string{"PLATFORM": p.Platform, "FLEET_TYPE": p.FleetType}[f.Attribute] != f.Values[0]
		})
	}
	return object{"devices": list}, nil
}

// types are the types of uploads, with the required suffix of their names.
var types = map[string]string{"ANDROID_APP": ".apk", "INSTRUMENTATION_TEST_PACKAGE": ".apk", "INSTRUMENTATION_TEST_SPEC": ".yml"}

func createUpload(folder state.Folder, a *account, in input) (any, error) {
	end, known := types[in.Type]
	if in.ProjectARN != Project || !known || !strings.HasSuffix(in.Name, end) || strings.Contains(in.Name, "/") {
		return nil, argument("Invalid upload", in.Name)
	}
	id := fmt.Sprintf("upload-%d", len(a.Uploads)+1)
	u := Upload{ARN: nameOf("upload", id), Name: in.Name, Type: in.Type, Status: "INITIALIZED"}
	a.Uploads = append(a.Uploads, u)
	address, err := signed(folder, "uploads/"+id)
	return object{"upload": object{
		"arn": u.ARN, "name": u.Name, "type": u.Type, "status": u.Status, "contentType": in.ContentType, "url": address, "created": 1472661404.186,
	}}, err
}

// upload returns an upload that was not deleted.
func (a *account) upload(name string) (*Upload, error) {
	at := slices.IndexFunc(a.Uploads, func(u Upload) bool { return u.ARN == name && !u.Deleted })
	if at < 0 {
		return nil, missing("upload", name)
	}
	return &a.Uploads[at], nil
}

func getUpload(folder state.Folder, a *account, in input) (any, error) {
	u, err := a.upload(in.ARN)
	if err != nil {
		return nil, err
	}
	if u.Content != "" && (u.Status == "INITIALIZED" || u.Status == "PROCESSING") {
		switch {
		case folder.Fails(Unprocessed):
			u.Status = "PROCESSING"
		case folder.Fails(Refused), u.Type == "INSTRUMENTATION_TEST_SPEC" && !strings.HasPrefix(u.Content, "version: 0.1\n"):
			u.Status, u.Message = "FAILED", "We could not open your file. Please verify that the file is valid and try again."
		default:
			u.Status = "SUCCEEDED"
		}
	}
	return object{"upload": object{"arn": u.ARN, "name": u.Name, "type": u.Type, "status": u.Status, "message": u.Message}}, nil
}

func listUploads(_ state.Folder, a *account, in input) (any, error) {
	list := []any{}
	for _, u := range a.Uploads {
		if !u.Deleted && u.Type == in.Type {
			list = append(list, object{"arn": u.ARN, "name": u.Name, "type": u.Type, "status": u.Status})
		}
	}
	return object{"uploads": list}, nil
}

func deleteUpload(_ state.Folder, a *account, in input) (any, error) {
	u, err := a.upload(in.ARN)
	if err != nil {
		return nil, err
	}
	u.Deleted = true
	for i, r := range a.Runs {
		a.Runs[i].Robbed = r.Robbed || r.Status != "COMPLETED" && slices.Contains(r.Uploads, u.ARN)
	}
	return object{}, nil
}

func scheduleRun(folder state.Folder, a *account, in input) (any, error) {
	if folder.Fails(Limit) {
		return nil, &refusal{"LimitExceededException", "The maximum number of in-flight jobs was exceeded."}
	}
	minutes := in.ExecutionConfiguration.JobTimeoutMinutes
	chosen := in.DeviceSelectionConfiguration
	if in.ProjectARN != Project || in.Test.Type != "INSTRUMENTATION" || minutes < 5 || minutes > 150 ||
		len(chosen.Filters) != 1 || chosen.Filters[0].Attribute != "ARN" || chosen.Filters[0].Operator != "IN" || chosen.MaxDevices < 1 {
		return nil, argument("Invalid run", in.Name)
	}
	var content []string
	uploads := []string{in.AppARN, in.Test.TestPackageARN, in.Test.TestSpecARN}
	for _, name := range uploads {
		u, err := a.upload(name)
		if err != nil {
			return nil, err
		}
		if u.Status != "SUCCEEDED" {
			return nil, argument("Upload", name, "is not ready")
		}
		content = append(content, u.Content)
	}
	id := fmt.Sprintf("run-%d", len(a.Runs)+1)
	r := Run{ARN: nameOf("run", id), Name: in.Name, App: strings.TrimPrefix(content[0], "PK"), Spec: content[2], Minutes: minutes, Billing: in.Configuration.BillingMethod, Status: "SCHEDULING", Uploads: uploads}
	for _, p := range phones {
		if slices.Contains(chosen.Filters[0].Values, p.ARN) && len(r.Jobs) < chosen.MaxDevices {
			r.Jobs = append(r.Jobs, Job{ARN: nameOf("job", fmt.Sprintf("%s/%05d", id, len(r.Jobs))), Phone: p, Result: "PASSED", Results: true})
		}
	}
	if len(r.Jobs) == 0 {
		return nil, argument("No device matches the filters")
	}
	last := &r.Jobs[len(r.Jobs)-1]
	for word, result := range map[string]string{Fails: "FAILED", Errored: "ERRORED", Elsewhere: "STOPPED", NoResults: "PASSED"} {
		if folder.Fails(word) {
			last.Result, last.Results = result, false
		}
	}
	a.Runs = append(a.Runs, r)
	return object{"run": r.told()}, nil
}

// told returns a run as the service reports it.
func (r Run) told() object {
	o := object{"arn": r.ARN, "name": r.Name, "type": "INSTRUMENTATION", "platform": "ANDROID", "status": r.Status, "result": "PENDING",
		"totalJobs": len(r.Jobs), "completedJobs": 0, "billingMethod": r.Billing, "jobTimeoutMinutes": r.Minutes}
	if r.Status == "COMPLETED" {
		o["completedJobs"], o["result"] = len(r.Jobs), r.Jobs[len(r.Jobs)-1].Result
	}
	return o
}
