package waits

import (
	"strings"

	"github.com/apkgate/apkgate/trace/anr"
)

// interfaceOf returns the name of a Java call made at a frame, derived from the proxy that made it:
// "android.app.IActivityManager$Stub$Proxy.getTasks" is android.app.IActivityManager::getTasks. It
// returns "" for a proxy that R8 renamed.
func interfaceOf(t *anr.Thread, at int) string {
	for _, f := range t.Frames[at:min(len(t.Frames), at+4)] {
		for _, proxy := range []string{"$Stub$Proxy.", "$Proxy."} {
			if class, method, ok := strings.Cut(f.Name, proxy); ok {
				return class + "::" + method
			}
		}
		// Written by hand, as Android's own were until Android 7: ActivityManagerProxy, whose
		// server side is ActivityManagerNative.
		if class, method, ok := cutLast(f.Name, "Proxy."); ok && class != "android.os.Binder" && !strings.Contains(class, "$") {
			return class + "::" + method
		}
	}
	return ""
}

// nativeInterfaceOf returns the name of a native call, derived from the proxy that made it:
// "android::BpSurfaceComposer::getDisplayInfo(…)" is android::ISurfaceComposer::getDisplayInfo.
func nativeInterfaceOf(t *anr.Thread, at int) string {
	for _, f := range t.Frames[at+1 : min(len(t.Frames), at+4)] {
		name, _, _ := strings.Cut(f.Name, "(")
		class, method, ok := cutLast(name, "::")
		if !ok {
			continue
		}
		space, proxy, _ := cutLast(class, "::")
		for _, begins := range []string{"BpHw", "Bp"} {
			if of, ok := strings.CutPrefix(proxy, begins); ok && of != "Binder" {
				return space + "::I" + of + "::" + strings.TrimPrefix(method, "_hidl_")
			}
		}
	}
	return ""
}

// cutLast cuts a text at its last separator; without one, all of it is after.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return "", s, false
}

// serves returns the call that a thread answers, as named by interfaceOf, "" for none: the method
// that the interface's stub calls.
func serves(t *anr.Thread) string {
	for i, f := range t.Frames {
		for _, side := range []string{"$Stub.onTransact", "Native.onTransact"} {
			class, ok := strings.CutSuffix(f.Name, side)
			if !ok || i == 0 || t.Frames[i-1].Kind != anr.Java {
				continue
			}
			_, method, _ := cutLast(t.Frames[i-1].Name, ".")
			if of, ok := strings.CutPrefix(method, "onTransact$"); ok { // part of a large interface
				method = strings.TrimSuffix(of, "$")
			}
			return class + "::" + method
		}
	}
	return ""
}
