package workload

import (
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
)

// The packages of Android's Test Orchestrator. The second lets the first run commands as the shell
// user.
const (
	OrchestratorPackage = "androidx.test.orchestrator"
	ServicesPackage     = "androidx.test.services"
)

// Needed is a package that a workload needs on the device, and its APK file, "" for none.
type Needed struct{ Package, APK string }

// Orchestra returns the additional packages of a test under the Orchestrator.
func Orchestra(w config.Workload, app config.App) []Needed {
	if !Orchestrated(w) {
		return nil
	}
	return []Needed{{OrchestratorPackage, app.OrchestratorAPK}, {ServicesPackage, app.TestServicesAPK}}
}

// Orchestrated reports whether each test runs in its own process: the app's process ends between
// two tests, which is no crash.
func Orchestrated(w config.Workload) bool {
	return w.Instrumentation != nil && w.Instrumentation.Orchestrator
}

// clearsData is the argument that makes the Orchestrator clear the app's data before each test.
const clearsData = "clearPackageData"

// ClearsBetween reports whether the app's data is cleared, and its permissions revoked, before each
// test.
func ClearsBetween(w config.Workload) bool {
	return Orchestrated(w) && w.Instrumentation.Args[clearsData] == "true"
}

// noOrchestrator adds a hint to the error that the device lacks a package of the Orchestrator.
func noOrchestrator(problem *loss.Error) *loss.Error {
	problem.Advice = "name the APKs of the Orchestrator (app.orchestrator-apk and app.test-services-apk: androidx.test:orchestrator and androidx.test.services:test-services in Google's Maven repository), or install both before"
	problem.Phase = journal.SetUp
	return problem
}

// orchestratorSays is the Orchestrator's message on a test whose process ended early.
const orchestratorSays = "Test instrumentation process crashed"

// adviceOnCrash is for a crash of a test that is not in the log: from Android 11 on, a test does
// not see the Orchestrator unless every app may.
const adviceOnCrash = "where the log has no crash, the test may not see the Orchestrator (Android 11): name app.orchestrator-apk and app.test-services-apk, which are then installed with --force-queryable"
