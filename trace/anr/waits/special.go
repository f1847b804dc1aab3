package waits

import (
	"slices"
	"strings"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
)

// debugger is what a thread waits for that a debugger has stopped, or that waits for one to
// attach.
const debugger = "debugger"

// byDebugger decides for threads that a debugger stopped: the runtime counts who suspended a
// thread for one, and android.os.Debug.waitForDebugger looks for one again and again, asleep
// meanwhile.
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

// crash is what a thread is at that has ended its process, or got a signal that does.
const crash = "crash"

// crashing are functions in which a thread is once its process ends by itself: what raises the
// signal (bionic/libc/bionic/abort.cpp, fortify.cpp), and handlers of it, that write the crash
// down or wait for who does (debuggerd_handler.cpp, Breakpad, Crashpad, xCrash).
var crashing = []string{"abort", "__fortify_fatal", "HandleUsingDestroyedMutex", "art::Runtime::Abort", "debuggerd_signal_handler", "google_breakpad::ExceptionHandler::", "crashpad::", "xc_crash_signal_handler"}

// byCrash decides for threads that crash: their process does not respond while that lasts.
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

// byDriver decides for threads that wait inside a library of OpenGL ES, EGL or Vulkan: the
// innermost frames are the C library's, and those that called it the driver's.
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

// sleeps reports whether a thread in a function of the kernel waits there, and not for
// another process's answer.
func sleeps(function string) bool {
	kind := general.of(function)
	return kind != "" && kind != run.WaitBinder
}

// waiting reports whether a native frame is of the C library, or of the kernel's own page,
// where it waits for something.
func waiting(f anr.Frame) bool {
	name := bare(f.Name)
	if _, known := means[name]; known {
		return true
	}
	return slices.Contains([]string{"syscall", "ioctl", "__ioctl", "__kernel_vsyscall", "sync_wait"}, name)
}

// isEntry reports whether a function is one of OpenGL ES, EGL or Vulkan: "glDrawArrays".
func isEntry(name string) bool {
	name = bare(name)
	for _, begins := range []string{"gl", "egl", "vk", "qgl2DrvAPI_gl"} {
		if rest, ok := strings.CutPrefix(name, begins); ok && rest != "" && (rest[0] >= 'A' && rest[0] <= 'Z') {
			return true
		}
	}
	return false
}

// drivers are parts of the names of the files of graphics drivers: Adreno, Mali, PowerVR,
// Tegra, the emulator's, Mesa.
var drivers = []string{"/egl/lib", "libgsl.so", "libGLES_mali", "libGLESv1", "libGLESv2_", "libEGL_", "libOpenglSystemCommon", "lib_renderControl_enc", "libsrv_um", "libsrv_init", "libIMGegl", "libPVR", "libglslcompiler", "libnvgl", "libnvrm", "vulkan.", "libllvm-glnext", "libq3dtools", "libgallium"}

func isDriver(library string) bool {
	return slices.ContainsFunc(drivers, func(part string) bool { return strings.Contains(library, part) })
}

// systemCode reports whether a native frame between the driver and its entry says nothing of
// its own.
func systemCode(f anr.Frame) bool {
	return strings.HasSuffix(f.Library, "/libc.so") || strings.HasSuffix(f.Library, "/libc++.so") || strings.HasSuffix(f.Library, "/libcutils.so") || strings.HasSuffix(f.Library, "/libEGL.so")
}

// graphics reports whether a native method draws.
func graphics(method string) bool {
	return slices.ContainsFunc([]string{"android.view.GLES20Canvas.n", "android.opengl.GLES", "android.opengl.EGL", "com.google.android.gles_jni."}, func(begins string) bool { return strings.HasPrefix(method, begins) })
}

// methodOf is a method with its class, without the package: "GLES20Canvas.nDrawDisplayList".
func methodOf(name string) string {
	class, method, _ := cutLast(name, ".")
	_, short, _ := cutLast(class, ".")
	return short + "." + method
}

// draws reports whether a thread waits for the render thread of its process: the native side
// of a view's renderer waits for nobody else (libs/hwui/renderthread, DrawFrameTask and
// RenderProxy).
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

// polls reports whether a thread that is in MessageQueue.nativePollOnce waits for messages
// there, and is not in what the native side calls as something arrives (Looper::pollInner).
func polls(t *anr.Thread) bool {
	const few = 4 // frames of a runtime that lets the thread go on
	for i, f := range t.Frames {
		name := bare(f.Name)
		switch {
		case f.Kind == anr.Java:
			return true // nothing is known of what is inside
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

// loops reports whether a thread is in its message loop between two messages: the methods
// inside MessageQueue.next are the queue's own, and those by which it looks at the clock or
// sends what it has to say to binder. A handler that is called when there is nothing to do
// (MessageQueue.IdleHandler) is work.
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
