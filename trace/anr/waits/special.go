package waits

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// debugger is what a thread waits for if a debugger has stopped it, or if it waits for one to
// attach.
const debugger = "debugger"

// byDebugger classifies threads that a debugger stopped: the runtime counts suspensions by
// debuggers, and android.os.Debug.waitForDebugger polls for one and sleeps in between.
func byDebugger(t *anr.Thread) (Step, bool) {
	const most = 6 // methods: it calls sleep, and others of its own
	seen := 0
	for i, f := range t.Frames {
		if f.Kind != anr.Java {
			continue
		}
		if f.Name == "android.os.Debug.waitForDebugger" {
			return Step{Kind: run.WaitStopped, At: i, What: debugger}, true
		}
		if seen++; seen == most {
			break
		}
	}
	if t.Debugged || strings.HasPrefix(t.State, "WaitingForDebugger") {
		return Step{Kind: run.WaitStopped, At: firstOf(t, anr.Java, innermost(t)), What: debugger}, true
	}
	return Step{}, false
}

// crash is the kind of a thread that has ended its process, or received a fatal signal.
const crash = "crash"

// crashing are functions of a process that is ending itself: those that raise the signal
// (bionic/libc/bionic/abort.cpp, fortify.cpp), and signal handlers that write the crash dump or
// wait for the process that does (debuggerd_handler.cpp, Breakpad, Crashpad, xCrash).
var crashing = []string{"abort", "__fortify_fatal", "HandleUsingDestroyedMutex", "art::Runtime::Abort", "debuggerd_signal_handler", "google_breakpad::ExceptionHandler::", "crashpad::", "xc_crash_signal_handler"}

// byCrash classifies threads that crash: their process does not respond in the meantime.
func byCrash(t *anr.Thread) (Step, bool) {
	for i, f := range t.Frames[:min(len(t.Frames), near)] {
		if f.Kind == anr.Java {
			break
		}
		name := bare(f.Name)
		for _, begins := range crashing {
			if name == begins || strings.HasSuffix(begins, "::") && strings.HasPrefix(name, begins) {
				return Step{Kind: run.WaitStopped, At: i, What: crash}, true
			}
		}
	}
	return Step{}, false
}

// byDriver classifies threads that wait inside a library of OpenGL ES, EGL or Vulkan: the innermost
// frames are the C library's, and their callers the driver's.
func byDriver(t *anr.Thread) (Step, bool) {
	waits, in := sleeps(t.Channel), -1
	for i, f := range t.Frames[:min(len(t.Frames), near)] {
		switch {
		case f.Kind == anr.Kernel:
			waits = waits || sleeps(f.Name)
			continue
		case f.Kind == anr.Java:
			if in < 0 && waits && graphics(f.Name) {
				return Step{Kind: run.WaitGPU, At: i, What: methodOf(f.Name)}, true
			}
		case in < 0 && (waiting(f) || t.Kernel == "S" && f.Name == "" && strings.HasSuffix(f.Library, "/libc.so")):
			waits = true
			continue
		case isEntry(f.Name):
			if waits || isDriver(f.Library) && t.Kernel == "S" {
				return Step{Kind: run.WaitGPU, At: i, What: bare(f.Name)}, true
			}
		case isDriver(f.Library):
			if in < 0 {
				in = i
			}
			continue
		case systemCode(f):
			continue
		}
		break
	}
	if in >= 0 && waits {
		return Step{Kind: run.WaitGPU, At: in}, true
	}
	return Step{}, false
}

// sleeps reports whether a thread in a function of the kernel waits there, and not for another
// process's reply.
func sleeps(function string) bool {
	kind := general.of(function)
	return kind != "" && kind != run.WaitBinder
}

// waiting reports whether a native frame is a wait in the C library or the vDSO.
func waiting(f anr.Frame) bool {
	name := bare(f.Name)
	if _, known := means[name]; known {
		return true
	}
	return slices.Contains([]string{"syscall", "ioctl", "__ioctl", "__kernel_vsyscall", "sync_wait"}, name)
}

// isEntry reports whether a function is an entry point of OpenGL ES, EGL or Vulkan: "glDrawArrays".
func isEntry(name string) bool {
	name = bare(name)
	for _, begins := range []string{"gl", "egl", "vk", "qgl2DrvAPI_gl"} {
		if rest, ok := strings.CutPrefix(name, begins); ok && rest != "" && (rest[0] >= 'A' && rest[0] <= 'Z') {
			return true
		}
	}
	return false
}

// drivers are parts of the file names of graphics drivers: Adreno, Mali, PowerVR, Tegra, the
// emulator's, Mesa.
var drivers = []string{"/egl/lib", "libgsl.so", "libGLES_mali", "libGLESv1", "libGLESv2_", "libEGL_", "libOpenglSystemCommon", "lib_renderControl_enc", "libsrv_um", "libsrv_init", "libIMGegl", "libPVR", "libglslcompiler", "libnvgl", "libnvrm", "vulkan.", "libllvm-glnext", "libq3dtools", "libgallium"}

func isDriver(library string) bool {
	return slices.ContainsFunc(drivers, func(part string) bool { return strings.Contains(library, part) })
}

// systemCode reports whether a native frame between the driver and its entry point is
// uninformative.
func systemCode(f anr.Frame) bool {
	return strings.HasSuffix(f.Library, "/libc.so") || strings.HasSuffix(f.Library, "/libc++.so") || strings.HasSuffix(f.Library, "/libcutils.so") || strings.HasSuffix(f.Library, "/libEGL.so")
}

// graphics reports whether a native method draws.
func graphics(method string) bool {
	return slices.ContainsFunc([]string{"android.view.GLES20Canvas.n", "android.opengl.GLES", "android.opengl.EGL", "com.google.android.gles_jni."}, func(begins string) bool { return strings.HasPrefix(method, begins) })
}

// methodOf returns a method with its class but without the package:
// "GLES20Canvas.nDrawDisplayList".
func methodOf(name string) string {
	class, method, _ := cutLast(name, ".")
	_, short, _ := cutLast(class, ".")
	return short + "." + method
}

// draws reports whether a thread waits for its process's render thread: the native side of a view's
// renderer waits for nothing else (libs/hwui/renderthread, DrawFrameTask and RenderProxy).
func draws(t *anr.Thread) bool {
	for _, f := range t.Frames[:min(len(t.Frames), near)] {
		if f.Kind == anr.Java {
			return false
		}
		name := bare(f.Name)
		for _, begins := range []string{"android::uirenderer::renderthread::DrawFrameTask::", "android::uirenderer::renderthread::RenderProxy::", "android::uirenderer::WorkQueue::runSync"} {
			if f.Kind == anr.Native && strings.HasPrefix(name, begins) {
				return true
			}
		}
	}
	return false
}

// polls reports whether a thread in MessageQueue.nativePollOnce waits for messages, rather than
// being in a native callback (Looper::pollInner).
func polls(t *anr.Thread) bool {
	const few = 4 // frames of a runtime that lets the thread continue
	for i, f := range t.Frames {
		name := bare(f.Name)
		switch {
		case f.Kind == anr.Java:
			return true // the inner frames are unknown
		case f.Kind == anr.Kernel, waiting(f):
		case strings.HasSuffix(name, "Looper::pollInner"), strings.HasSuffix(name, "Looper::pollOnce"), strings.HasSuffix(f.Library, "/libutils.so") && name == "":
			return true
		case strings.HasSuffix(f.Library, "/libc.so"), strings.Contains(f.Library, "vdso"), strings.HasPrefix(name, "art::") && i < few:
		default:
			return false
		}
	}
	return true
}

// loops reports whether a thread is in its message loop between two messages: the methods inside
// MessageQueue.next are the queue's own, and those that read the clock or flush binder commands. An
// idle handler (MessageQueue.IdleHandler) is work.
func loops(t *anr.Thread) bool {
	for _, f := range t.Frames {
		switch {
		case f.Kind != anr.Java:
		case f.Name == "android.os.MessageQueue.next":
			return true
		case !strings.HasPrefix(f.Name, "android.os.MessageQueue.") && !strings.HasPrefix(f.Name, "android.os.SystemClock.") && f.Name != "android.os.Binder.flushPendingCommands":
			return false
		}
	}
	return false
}
