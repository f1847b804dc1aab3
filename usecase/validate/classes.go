package validate

import (
	"slices"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/exit"
)

// chooses are the arguments of AndroidJUnitRunner that choose tests: a user who gives one wants
// just these, in one run (TestRequestBuilder).
var chooses = []string{"class", "notClass", "package", "notPackage", "annotation", "notAnnotation", "size", "filter", "tests_regex", "testFile", "notTestFile", "numShards", "log"}

// Classes splits Macrobenchmark modules: a scenario without a class becomes one for each of the
// classes that it lists, or that the test APK has, if there are several. An APK that can't be read
// is left to the device.
func Classes(cfg *config.Config) error {
	var all []config.Scenario
	for _, s := range cfg.Scenarios {
		classes := classesOf(s, cfg.App.TestAPK)
		if classes == nil {
			all = append(all, s)
			continue
		}
		its, err := s.OfClasses(classes)
		if err != nil {
			return exit.Usage(err, "list those to measure: workload.instrumentation.classes")
		}
		all = append(all, its...)
	}
	cfg.Scenarios = all
	return nil
}

// classesOf returns those that a scenario is split into, nil for none.
func classesOf(s config.Scenario, testAPK string) []string {
	w := s.Workload.Benchmark()
	switch {
	case w == nil || w.Class != "":
		return nil
	case len(w.Classes) > 0:
		return w.Classes
	}
	for name := range w.Args {
		if slices.Contains(chooses, name) {
			return nil
		}
	}
	test, ok := apkFactsOf(testAPK)
	if !ok {
		return nil
	}
	classes, err := test.benchmarks()
	if err != nil || len(classes) < 2 {
		return nil
	}
	return classes
}

// inFile returns the index in the file of the i-th scenario, after modules were split.
func inFile(cfg *config.Config, i int) int {
	place := i
	for k := 1; k <= i; k++ {
		if module := cfg.Scenarios[k].Module; module != "" && module == cfg.Scenarios[k-1].Module {
			place--
		}
	}
	return place
}
