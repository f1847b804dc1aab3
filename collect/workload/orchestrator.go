package workload

import (
	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/config"
)

// The packages of Android's Test Orchestrator. The second lets the first run commands
// as the shell does.
const (
	OrchestratorPackage = "androidx.test.orchestrator"
	ServicesPackage     = "androidx.test.services"
)

// Needed is a package that a workload needs on the device, and the APK file that has
// it, "" for none.
type Needed struct{ Package, APK string }

// Orchestra is what a test under the Orchestrator needs beside itself.
func Orchestra(w config.Workload, app config.App) []Needed {
	if !Orchestrated(w) {
		return nil
	}
	return []Needed{{OrchestratorPackage, app.OrchestratorAPK}, {ServicesPackage, app.TestServicesAPK}}
}

// Orchestrated reports whether each test runs in a process of its own, so that the
// app's process ends between two tests, which is no crash.
func Orchestrated(w config.Workload) bool {
	return w.Instrumentation != nil && w.Instrumentation.Orchestrator
}

// clearsData is the argument that has the Orchestrator clear the app's data before
// each test.
const clearsData = "clearPackageData"

// ClearsBetween reports whether the app's data is cleared before each test, and what
// it was granted taken away with it.
func ClearsBetween(w config.Workload) bool {
	return Orchestrated(w) && w.Instrumentation.Args[clearsData] == "true"
}

// noOrchestrator is the error that the device lacks a package of the Orchestrator.
func noOrchestrator(problem *loss.Error) *loss.Error {
	problem.Advice = "name the APKs of the Orchestrator (app.orchestrator-apk and app.test-services-apk: androidx.test:orchestrator and androidx.test.services:test-services in Google's Maven repository), or install both before"
	problem.Phase = journal.SetUp
	return problem
}

// orchestratorSays is how the Orchestrator tells of a test whose process ended before
// its time.
const orchestratorSays = "Test instrumentation process crashed"

// adviceOnCrash is for a crash of a test that the log does not tell of: from Android 11
// on, a test does not see the Orchestrator unless every app may.
const adviceOnCrash = "where the log tells of no crash, the test may not see the Orchestrator (Android 11): name app.orchestrator-apk and app.test-services-apk, which are then installed with --force-queryable"
