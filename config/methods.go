package config

// The recorders of method calls that a file may name.
const (
	MethodsAuto    = "auto"    // the first of long and samples that the device and the app allow
	MethodsLong    = "long"    // calls that take long, by ART's low-overhead recording
	MethodsSamples = "samples" // samples of the methods that run, by simpleperf
	MethodsCalls   = "calls"   // every call, instrumented
)

// Methods configures what is recorded of the app's calls, to see which of its methods ran when
// something went wrong.
type Methods struct {
	// When the calls of a repetition are kept: anomalies keeps those of repetitions in which
	// something went wrong, as evidence.keep does, which must not be none; all keeps them of every
	// one; none records none.
	Keep string `yaml:"keep,omitempty" jsonschema:"enum=none,enum=anomalies,enum=all,default=none"`
	// What records them. long is ART's low-overhead recording of calls that take more than about
	// 170 ms (Android 16, builds that have it); samples is simpleperf; calls instruments every call,
	// which slows the app down several times, and is never chosen by auto. The app must be
	// profileable or a debug build. Runs with and without it are not comparable.
	By string `yaml:"by,omitempty" jsonschema:"enum=auto,enum=long,enum=samples,enum=calls,default=auto"`
}

// Keeps reports whether any calls may be kept.
func (m Methods) Keeps() bool { return m.Keep == KeepAnomalies || m.Keep == KeepAll }

func (d *decoder) methods(c *Config) reader {
	return func(n *node, path string) {
		m := &c.Methods
		d.mapping(n, path,
			may("keep", oneOf(d, &m.Keep, KeepNone, KeepAnomalies, KeepAll)),
			may("by", oneOf(d, &m.By, MethodsAuto, MethodsLong, MethodsSamples, MethodsCalls)),
		)
	}
}

// methodsNeedEvidence checks that what goes wrong is watched for where calls are kept of it.
func (d *decoder) methodsNeedEvidence(root *node, c *Config) {
	if c.Methods.Keeps() && !c.Evidence.Keeps() {
		d.at(root.find("methods"), "methods.keep", "want evidence.keep: worst, anomalies or all with it: what goes wrong is only watched for where it is recorded")
	}
}
