// Package evaluation says what a gate is worth on given series: how often it fails a
// build that changed nothing, how often one that got worse, how often it can't tell,
// and how many repetitions that costs. It draws runs from the series, makes records of
// the format of them, and lets them go the way of the product: the check against the
// history, then rounds side by side for what that leaves open, until they settle it.
//
// It takes a stand: a share is told with its interval, the same draws are used for every
// rule and every size of worsening, and nothing of the gate is imitated here. What it
// can't simulate it says: rounds are drawn from the repetitions of one session, so that
// their order in time is lost. It measures nothing, and changes no history.
//
// Its tests compare apkgate with what docs/evaluation says that it finds in measurements
// that nobody here made. These measurements are not part of the repository;
// without them the tests are skipped. An expectation is worked out from the raw numbers
// by other means, never copied from what the gate says. Where nobody knows the truth, a
// test asserts no more than what a person sees in the numbers.
package evaluation
