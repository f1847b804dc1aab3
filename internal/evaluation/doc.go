// Package evaluation holds apkgate to what it is said to find in measurements
// that nobody here made: docs/evaluation.md in tests. The measurements are not
// part of the repository; without them the tests are skipped.
//
// It takes a stand: an expectation is worked out from the raw numbers by other
// means, never copied from what the gate says. Where nobody knows the truth, a
// test asserts no more than what a person sees in the numbers.
package evaluation
