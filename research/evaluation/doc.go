// Package evaluation measures what a gate is worth on given series: how often it fails an unchanged
// build, how often one that got worse, how often it can't decide, and how many repetitions that
// costs. It draws runs from the series, makes records in the product's format, and judges them with
// the product's own code: the check against the history, then rounds for what that leaves open,
// until they settle it.
//
// A share is reported with its interval, the same draws are used for every rule and every size of
// worsening, and nothing of the gate is imitated here. What it can't simulate is reported: rounds
// are drawn from the repetitions of one session, so that their order in time is lost. It measures
// nothing, and changes no history.
//
// Its tests compare apkgate with what docs/evaluation reports on measurements that others
// published. These measurements are not part of the repository; without them the tests are skipped.
// Expected values are computed from the raw numbers by other means, never copied from the gate's
// output. Where the truth is unknown, a test asserts no more than what a person sees in the
// numbers.
package evaluation
