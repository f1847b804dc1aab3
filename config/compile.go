package config

// How the app's code is compiled before measuring.
const (
	CompileProfile = "speed-profile" // ahead of time, as far as its profile names it
	CompileSpeed   = "speed"         // ahead of time, all of it
	CompileVerify  = "verify"        // not ahead of time
	CompileNone    = "none"          // as it was installed
)

// Compilations returns all of them.
func Compilations() []string {
	return []string{CompileProfile, CompileSpeed, CompileVerify, CompileNone}
}

// compilations fills in the compilation of scenarios that don't set it. A Macrobenchmark compiles
// the app itself.
func (c *Config) compilations() {
	how := CompileProfile
	if c.Energy.Measured() {
		how = c.Energy.Compile
	}
	for i := range c.Scenarios {
		if s := &c.Scenarios[i]; s.Compile == "" && s.Workload.Benchmark() == nil {
			s.Compile = how
		}
	}
}

// The source of frames.
const (
	FramesAuto  = "auto"  // the most detailed source of how long they took
	FramesShown = "shown" // the compositor's record of the buffers that it showed
)

// How memory is measured for an app that ends with its test.
const (
	MemoryRSS = "rss" // what the kernel counts
	MemoryPSS = "pss" // and what the system sums up, while the test runs
)
