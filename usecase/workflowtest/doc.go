// Package workflowtest runs the action and the workflows of examples/ as a user's
// repository would, with act (github.com/nektos/act) in place of GitHub's runner,
// simulated phones in place of an emulator, and package githubtest in place of
// GitHub's REST API. It also holds all workflows to actionlint and to pinned
// versions.
//
// It has tests and nothing else. It takes a stand: the examples run as they are
// pasted, to the letter. What can't be had on a machine without GitHub (the
// actions of others) is replaced by the stand-ins in testdata/standins, which say
// what they do instead. Without act or actionlint on the PATH, the tests that
// need them are skipped; scripts/test installs both.
package workflowtest
