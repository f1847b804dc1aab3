package recorders

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apkgate/apkgate/simulator/internal/account"
	"github.com/apkgate/apkgate/simulator/internal/perfdata"
	"github.com/apkgate/apkgate/simulator/internal/power"
	"github.com/apkgate/apkgate/simulator/simapp"
)

// hit is an instant at which a thread's timer fired.
type hit struct {
	power.Slice
	at time.Duration
}

// hitsOf returns the hits of all threads between two instants: one for each period of a
// thread's CPU time, with a random phase.
func hitsOf(p *Phone, d *account.Process, from, to, period time.Duration) iter.Seq[hit] {
	return func(yield func(hit) bool) {
		first := map[int]time.Duration{}
		stopped := false
		p.Work(d).Slices(from, to, func(s power.Slice) {
			begin, known := first[s.Thread]
			if !known {
				phase := rand.New(rand.NewPCG(d.Seed, uint64(s.Thread))).Int64N(int64(period))
				begin = s.Ran + time.Duration(phase) // the timer starts with the recording
				first[s.Thread] = begin
			}
			next := begin
			if s.Ran > begin {
				next = begin + (s.Ran-begin+period-1)/period*period
			}
			for ; next < s.Ran+s.To-s.From && !stopped; next += period {
				stopped = !yield(hit{s, s.From + next - s.Ran})
			}
		})
	}
}

// Files of a phone that contain code.
const (
	inLibc = iota
	inProcess
	inRuntime
	inFramework
	inHWUI
	inOdex
	inJIT
	inVdex
	inNative
)

// systemCode are the system's functions in call chains.
var systemCode = [...]perfdata.File{
	inLibc:    {Path: "/apex/com.android.runtime/lib64/bionic/libc.so", Symbols: []string{"__libc_init", "_ZL15__pthread_startPv", "memcpy"}},
	inProcess: {Path: "/system/bin/app_process64", Symbols: []string{"main"}},
	inRuntime: {Path: "/system/lib64/libandroid_runtime.so", Symbols: []string{"_ZN7android14AndroidRuntime5startEPKcRKNS_6VectorINS_7String8EEEb"}},
	inFramework: {Path: "/system/framework/arm64/boot-framework.oat", Symbols: []string{
		"com.android.internal.os.ZygoteInit.main", "android.App.ActivityThread.main", "android.os.Looper.loop", "android.os.Handler.dispatchMessage",
		"android.view.Choreographer.doFrame", "android.view.ViewRootImpl.performTraversals", "android.view.View.draw",
		"java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run",
	}},
	inHWUI: {Path: "/system/lib64/libhwui.so", Symbols: []string{
		"_ZN7android10uirenderer12renderthread13CanvasContext4drawEb", "_ZN7android10uirenderer10RenderNode11prepareTreeERNS0_8TreeInfoE",
	}},
}

// at returns a place in the system's code.
func at(file, symbol int) perfdata.Place { return perfdata.Place{File: file, Symbol: symbol} }

// Call chains of the callers, innermost first.
var (
	loopChain   = []perfdata.Place{at(inFramework, 3), at(inFramework, 2), at(inFramework, 1), at(inFramework, 0), at(inRuntime, 0), at(inProcess, 0), at(inLibc, 0)}
	frameChain  = append([]perfdata.Place{at(inFramework, 4)}, loopChain...)
	workerChain = []perfdata.Place{at(inFramework, 7), at(inFramework, 8), at(inLibc, 1)}

	renderChain = []perfdata.Place{at(inHWUI, 0), at(inLibc, 1)}

	// Where the system's own share of CPU time is spent, called from the chains above.
	uiLeaves     = [][]perfdata.Place{{at(inFramework, 5)}, {at(inFramework, 6), at(inFramework, 5)}}
	renderLeaves = [][]perfdata.Place{{}, {at(inHWUI, 1)}, {at(inLibc, 2)}}
)

// code is the layout of one process's methods.
type code struct {
	app     simapp.Power
	files   []perfdata.File
	methods []perfdata.Place
}

// newCode lays out the code of a process: JIT-compiled methods are in memory of their own,
// unless the package was compiled ahead of time.
func newCode(d *account.Process) *code {
	folder := "/data/app/" + d.App.Package + "-1"
	c := &code{app: d.App.Power, files: slices.Concat(systemCode[:], []perfdata.File{ // starting with inOdex
		{Path: folder + "/oat/arm64/base.odex"},
		{Path: fmt.Sprintf("/data/local/tmp/perf.data_jit_app_cache:%d-%d", d.PID, d.PID+1), Kind: perfdata.JIT},
		{Path: folder + "/oat/arm64/base.vdex", Kind: perfdata.Dex},
		{Path: folder + "/lib/arm64/libapp.so"},
	})}
	for _, m := range d.App.Power.Methods {
		in := map[simapp.Code]int{simapp.AOT: inOdex, simapp.JIT: inJIT, simapp.Interpreted: inVdex, simapp.Native: inNative}[m.Kind]
		switch {
		case d.Compiled && m.Kind != simapp.Native:
			in = inOdex
		case m.Kind == simapp.Java:
			in = inJIT
		}
		c.methods = append(c.methods, at(in, len(c.files[in].Symbols)))
		c.files[in].Symbols = append(c.files[in].Symbols, m.Name)
	}
	return c
}

// chain returns the call chain of a slice, innermost first.
func (c *code) chain(s power.Slice) []perfdata.Place {
	var out []perfdata.Place
	if s.Method >= 0 {
		for i, m := range c.app.Chain(s.Method) {
			place := c.methods[m]
			if place.Offset = 64; i == 0 { // return addresses are the same for all calls
				place.Offset = int(s.Turn % 200 * 4)
			}
			out = append(out, place)
		}
	} else {
		leaves := uiLeaves
		if s.Thread == account.Render {
			leaves = renderLeaves
		}
		out = append(out, leaves[s.Turn%uint64(len(leaves))]...)
	}
	if s.Thread == account.Render {
		return append(out, renderChain...)
	}
	switch {
	case s.Thread > account.Render: // the pool, and ART's threads
		return append(out, workerChain...)
	case s.Kind == power.Frame:
		return append(out, frameChain...)
	}
	return append(out, loopChain...)
}
