package config

// Compilations of the app's code before it is measured.
const (
	CompileProfile = "speed-profile" // ahead of time, what its profile names
	CompileSpeed   = "speed"         // ahead of time, all of it
	CompileVerify  = "verify"        // not ahead of time
	CompileNone    = "none"          // as it was installed
)

// Compilations are all of them.
func Compilations() []string {
	return []string{CompileProfile, CompileSpeed, CompileVerify, CompileNone}
}

// compilations fills in how each scenario's app is compiled that doesn't say. A
// Macrobenchmark sees to that itself.
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

// What tells of frames.
const (
	FramesAuto  = "auto"  // what tells most of how long they took
	FramesShown = "shown" // the compositor's record of the buffers that it showed
)

// What is measured of the memory of an app that ends with its test.
const (
	MemoryRSS = "rss" // what the kernel counts
	MemoryPSS = "pss" // and what the system adds up, while the test runs
)
