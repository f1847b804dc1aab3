package simpleperf

import "strings"

// Visible returns a call chain as in simpleperf's reports: without the frames of ART between Java
// frames, and without a compiled method that only continues the interpreted one
// (CallChainReportBuilder in simpleperf/report_utils.cpp). The chain itself is not changed.
func (p *Profile) Visible(chain []uint32) []uint32 {
	hidden := p.artBesideJava(chain)
	out := make([]uint32, 0, len(chain))
	for i, at := range chain {
		if hidden[i] {
			continue
		}
		if n := len(out) - 1; n >= 0 && continues(p.Frames[out[n]], p.Frames[at]) {
			out = out[:n]
		}
		out = append(out, at)
	}
	return out
}

// continues reports whether a frame is the compiled form of the interpreted method that called it.
func continues(f, caller Frame) bool {
	return f.Kind == JIT && caller.Kind == Interpreted && methodName(f.Symbol) == methodName(caller.Symbol)
}

// methodName returns a method without its type and arguments: "a.b.run" for "void a.b.run(int)".
func methodName(symbol string) string {
	name, _, signed := strings.Cut(symbol, "(")
	if signed {
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	return name
}

func (p *Profile) artBesideJava(chain []uint32) []bool {
	hidden := make([]bool, len(chain))
	beside := false
	for i, at := range chain {
		f := p.Frames[at]
		switch {
		case f.Kind == Interpreted || f.Kind == JIT:
			beside = true
			for j := i - 1; j >= 0 && !hidden[j] && p.Frames[chain[j]].art(); j-- {
				hidden[j] = true
			}
		case f.Kind == Runtime || beside && f.art():
			hidden[i] = true
		default:
			beside = false
		}
	}
	// The callee of a JNI trampoline is a separate method.
	for i := 1; i < len(chain); i++ {
		if hidden[i] && hidden[i-1] && p.Frames[chain[i]].trampoline() && p.Frames[chain[i-1]].Kind != Runtime {
			hidden[i-1] = false
		}
	}
	return hidden
}

// art reports whether a frame belongs to ART or a JNI trampoline.
func (f Frame) art() bool {
	return (f.Kind == Native || f.Kind == AOT) && (f.trampoline() ||
		strings.HasSuffix(f.File, "/libart.so") || strings.HasSuffix(f.File, "/libartd.so"))
}

func (f Frame) trampoline() bool { return strings.HasSuffix(f.Symbol, "jni_trampoline") }
