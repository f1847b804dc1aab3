// Package workflowtest runs the action and the workflows of examples/ as a user's repository would,
// with act (github.com/nektos/act) instead of GitHub's runner, simulated phones instead of an
// emulator, and package githubtest instead of GitHub's REST API. It also checks all workflows with
// actionlint and for pinned versions.
//
// It contains only tests. The examples run unchanged. What is not available on a machine without
// GitHub (the actions of others) is replaced by the stand-ins in testdata/standins, which document
// what they do instead. Without act or actionlint on the PATH, the tests that need them are
// skipped; scripts/test installs both.
package workflowtest
