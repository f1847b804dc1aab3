package signature

import "regexp"

// rule removes text that does not identify a fault.
type rule struct {
	find    *regexp.Regexp
	replace string
}

// rules are applied in order, each to the result of the one before. An empty result ends them.
type rules []rule

func (all rules) apply(text string) string {
	for _, r := range all {
		if text = r.find.ReplaceAllString(text, r.replace); text == "" {
			return ""
		}
	}
	return text
}

func take(find, replace string) rule { return rule{regexp.MustCompile(find), replace} }

// javaRules are for a class and its method, "com.example.Store$$Lambda$14/0x0840.run". Frames that
// a compiler inserted between two methods of the source are dropped first, while their marks are
// still there; then lambdas, whose names contain digits that would be taken for an inner class's
// number; numbers come last.
var javaRules = rules{
	// D8's and R8's outlined code, backports, and bridges to private members and lambdas:
	// R8's SyntheticNaming.java. javac's accessors (access$000).
	take(`^.*\$\$ExternalSynthetic(?:ApiModel)?(?:Outline|Backport|ThrowCCEIfNotNull|ThrowIAE|ThrowISE|ThrowNSME)\w*\..*$`, ""),
	take(`^.*\.(?:\$r8\$lambda\$.*|-\$\$Nest\$.*|access\$\d+)$`, ""),
	// A lambda's class: D8's "com.example.-$$Lambda$Store$7qXz" (until 2020) and
	// "Store$$ExternalSyntheticLambda3", a virtual machine's "Store$$Lambda$14/0x0840".
	take(`(^|\.)-\$\$Lambda\$([\w$]+?)\$[\w-]+\.(\w+)$`, "$1$2$$$$Lambda.$3"),
	take(`\$\$(?:ExternalSynthetic)?Lambda[\w$]*(?:/0x[0-9a-f]+|/\d+)?\.`, "$$$$Lambda."),
	// A lambda's method: javac's "lambda$onCreate$3", Kotlin's "onCreate$lambda-3" and
	// "onCreate$lambda$3$lambda$1".
	take(`\.lambda\$([\w$]*?)\$\d+(?:\$[\w-]+)?$`, ".lambda$$$1"),
	take(`\.(\w+?)\$lambda[-$]\d+.*$`, ".$1$$lambda"),
	// Proxies and accessors generated at run time.
	take(`\$Proxy\d+\.`, "$$Proxy."),
	take(`(Generated\w*Accessor)\d+\.`, "$1."),
	// Kotlin's inlined copies and anonymous classes, which are numbered: "Store$1",
	// "Store$read$2$1".
	take(`\$\d+`, ""),
	// Names of Android's own methods in other versions.
	take(`^android\.os\.Looper\.loopOnce$`, "android.os.Looper.loop"),
	take(`^android\.os\.MessageQueue\.next(?:Legacy|Concurrent)$`, "android.os.MessageQueue.next"),
	take(`^android\.os\.Binder\.execTransactInternal$`, "android.os.Binder.execTransact"),
	take(`^android\.os\.BinderProxy\.transactNative$`, "android.os.BinderProxy.transact"),
	take(`^com\.android\.internal\.os\.(?:Zygote|Runtime)Init\$MethodAndArgsCaller\.run$`, "com.android.internal.os.ZygoteInit.main"),
	take(`^(?:dalvik\.system\.NativeStart\.(?:main|run)|java\.lang\.reflect\.Method\.invokeNative)$`, ""),
}

// libraryRules are for the file of a native function. The path is removed before the brackets: an
// app's folder may contain any.
var libraryRules = rules{
	take(`^.*!`, ""),          // "/data/app/…/base.apk!libnative.so"
	take(` \(deleted\)$`, ""), // "/memfd:jit-cache (deleted)"
	take(`^.*/`, ""),          // "/data/app/~~3q7Zz==/com.example.mail-9kQw==/lib/arm64/libnative.so"
	take(`^(?:memfd:|\[anon:(?:dalvik-)?)([^\]]*)\]?$`, "$1"), //
	take(`^\[vdso.*\]$`, ""),                                  // the entry to the kernel, which has frames of its own
	take(`^<(?:unknown|\?\?\?).*$|^\?\?\?$`, ""),              //
	take(`^<anonymous:[0-9a-f]+>$`, "<anonymous>"),
	take(`^(?:system@framework@)?(boot[\w-]*)\.(?:oat|art|vdex)$`, "boot.oat"),
	take(`^(base|split_[\w.]+)\.(?:odex|vdex|oat|apk|dex)$`, "base.apk"),
	take(`^(jit|zygote-jit|dalvik-jit)-(?:code-)?(?:cache|zygote-cache).*$`, "jit-cache"),
}

// functionRules are for a function of an app's library.
var functionRules = rules{
	take(`\(.*$`, ""), // the types of its arguments
	take(`0x[0-9a-f]+|\.llvm\.\d+|\.(?:isra|part|constprop|cold)\.?\d*`, ""),
	take(`::\{lambda.*|\$_\d+.*`, "::lambda"),
	take(`\d{3,}`, "#"),
}

// kernelRules are for a function of the kernel. Suffixes are removed before the names, which match
// to the end.
var kernelRules = rules{
	take(`\.(?:isra|part|constprop|cold|llvm|cfi|cfi_jt)\b.*$`, ""),
	// The entry to the kernel and the scheduler, whose names differ among architectures and
	// versions.
	take(`^(?:__switch_to|cpu_switch_to|__schedule|schedule|schedule_timeout|preempt_schedule.*|el0_.*|el0t_.*|do_el0_.*|invoke_syscall|ret_.*syscall.*|do_syscall_.*|entry_SYSCALL.*|entry_.*|do_fast_syscall_32|__do_fast_syscall_32|sysenter_.*|syscall_.*|0x[0-9a-f]+|\[<[0-9a-f]+>\].*)$`, ""),
	// A system call's name by architecture and version: __arm64_sys_fsync, SyS_fsync.
	take(`^(?:__arm64_|__x64_|__ia32_|__se_|__do_|compat_|__arm64_compat_)*(?:sys_|SyS_|Sys_)`, "sys_"),
}
