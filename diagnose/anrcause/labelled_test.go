package anrcause

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/run"
	"github.com/apkgate/apkgate/trace/anr"
	"github.com/apkgate/apkgate/trace/anr/signature"
	"github.com/apkgate/apkgate/trace/r8map"
)

// A labelled set of ANRs: faults of an app, each with many instances on phones and builds that
// differ in everything that is no part of the fault. Frames are as Android writes them.

// noise is what differs between two instances of one fault.
type noise struct {
	name string
	// lines of the source, addresses, ids of threads, numbers of pools and lambdas.
	numbers bool
	// obfuscated builds, each with a mapping; unmapped ones have lost theirs.
	obfuscated, unmapped bool
	// loops go round another number of times.
	loops bool
	// versions of Android, whose own methods have other names and which show other frames.
	versions bool
	// load: CPU and memory were different, or unknown.
	load bool
	// victims: what the waiting thread was doing, and how many more wait.
	victims bool
	// moments: where in a library's work a running thread was dumped.
	moments bool
}

var noises = []noise{
	{name: "lines, addresses, thread ids, lambdas", numbers: true},
	{name: "obfuscated names, with mappings", numbers: true, obfuscated: true},
	{name: "another depth of a loop", numbers: true, loops: true},
	{name: "Android 7 to 16", numbers: true, versions: true},
	{name: "CPU and memory otherwise, or not told", numbers: true, load: true},
	{name: "other threads wait, and more of them", numbers: true, victims: true},
	{name: "another moment of its work", numbers: true, moments: true},
	{name: "all of them", numbers: true, obfuscated: true, loops: true, versions: true, load: true, victims: true, moments: true},
	{name: "obfuscated names, mappings lost", numbers: true, obfuscated: true, unmapped: true},
}

// labelled is one fault: what the critical thread does, innermost frame first. "@" before a frame
// marks the app's own, which may be obfuscated, and a line of ">n" marks the next n frames as a
// loop.
type labelled struct {
	label  string
	reason string // the kind of cause
	kind   string // of the critical thread's wait
	where  string // the end of its stack: "main", "pool", "handler", "binder", "coroutine"
	peer   string // its process, where that is another one
	waits  bool   // the main thread waits for it
	cycle  []string
	frames []string
	low    bool // memory is low where it shows
}

const mail = "@com.example.mail."

// compose returns what is between a screen and what it draws, in Jetpack Compose.
func compose(leaf ...string) []string {
	return append(leaf,
		">4", "androidx.compose.runtime.RecomposeScopeImpl.compose", "androidx.compose.runtime.ComposerImpl.skipToGroupEnd", "androidx.compose.runtime.internal.ComposableLambdaImpl.invoke", "androidx.compose.foundation.layout.ColumnKt.Column",
		"androidx.compose.runtime.ComposerImpl.recomposeToGroupEnd", "androidx.compose.runtime.ComposerImpl.doCompose", "androidx.compose.runtime.ComposerImpl.recompose$runtime_release",
		"androidx.compose.runtime.CompositionImpl.recompose", "androidx.compose.runtime.Recomposer.performRecompose", "androidx.compose.runtime.Recomposer.access$performRecompose",
		"androidx.compose.runtime.Recomposer$runRecomposeAndApplyChanges$2$1.invoke", "androidx.compose.ui.platform.AndroidUiFrameClock$withFrameNanos$2$callback$1.doFrame",
		"androidx.compose.ui.platform.AndroidUiDispatcher.performFrameDispatch", "android.view.Choreographer$CallbackRecord.run", "android.view.Choreographer.doCallbacks", "android.view.Choreographer.doFrame",
		"android.view.Choreographer$FrameDisplayEventReceiver.run", "android.os.Handler.handleCallback")
}

// measure returns nested layouts around a view.
func measure(leaf ...string) []string {
	return append(leaf,
		">4", "android.view.View.measure", "android.view.ViewGroup.measureChildWithMargins", "android.widget.LinearLayout.measureVertical", "android.widget.LinearLayout.onMeasure",
		"android.view.View.measure", "android.view.ViewRootImpl.performMeasure", "android.view.ViewRootImpl.measureHierarchy", "android.view.ViewRootImpl.performTraversals", "android.view.ViewRootImpl.doTraversal",
		"android.view.ViewRootImpl$TraversalRunnable.run", "android.view.Choreographer$CallbackRecord.run", "android.view.Choreographer.doCallbacks", "android.view.Choreographer.doFrame", "android.os.Handler.handleCallback")
}

func sqlite(end string, more ...string) []string {
	return append([]string{"android.database.sqlite.SQLiteConnection." + end}, more...)
}

// labelledFaults are those of the set. Several differ in their innermost frames only.
var labelledFaults = []labelled{
	{label: "fsync of the store", reason: IOKind, kind: run.WaitIO, where: "pool", waits: true, frames: []string{"!fsync", "java.io.FileDescriptor.sync", mail + "Store.write", mail + "Store$1.run"}},
	{label: "fsync of its compaction", reason: IOKind, kind: run.WaitIO, where: "pool", waits: true, frames: []string{"!fsync", "java.io.FileDescriptor.sync", mail + "Store.compact", mail + "Store$1.run"}},
	{label: "a query on the main thread", reason: IOKind, kind: run.WaitUnknown, where: "main", frames: sqlite("nativeExecuteForCursorWindow", "android.database.sqlite.SQLiteConnection.executeForCursorWindow", "android.database.sqlite.SQLiteSession.executeForCursorWindow", "android.database.sqlite.SQLiteQuery.fillWindow", "android.database.sqlite.SQLiteCursor.fillWindow", "android.database.sqlite.SQLiteCursor.getCount", mail+"Dao.loadInbox", mail+"Repository.open", mail+"Inbox$2.onClick", "android.view.View.performClick", "android.view.View$PerformClick.run", "android.os.Handler.handleCallback")},
	{label: "an insertion on the main thread", reason: IOKind, kind: run.WaitUnknown, where: "main", frames: sqlite("nativeExecuteForLastInsertedRowId", "android.database.sqlite.SQLiteConnection.executeForLastInsertedRowId", "android.database.sqlite.SQLiteSession.executeForLastInsertedRowId", "android.database.sqlite.SQLiteStatement.executeInsert", "android.database.sqlite.SQLiteDatabase.insertWithOnConflict", mail+"Dao.save", mail+"Repository.open", mail+"Inbox$2.onClick", "android.view.View.performClick", "android.view.View$PerformClick.run", "android.os.Handler.handleCallback")},
	{label: "preferences are loaded", reason: IOKind, kind: run.WaitSignal, where: "main", frames: []string{"java.lang.Object.wait", "android.app.SharedPreferencesImpl.awaitLoadedLocked", "android.app.SharedPreferencesImpl.getString", mail + "Settings.theme", mail + "App.onCreate", "android.app.Instrumentation.callApplicationOnCreate", "android.app.ActivityThread.handleBindApplication", "android.app.ActivityThread$H.handleMessage"}},
	{label: "queued writes at a stop", reason: IOKind, kind: run.WaitIO, where: "handler", waits: true, frames: []string{"!fsync", "android.os.FileUtils.sync", "android.app.SharedPreferencesImpl.writeToFile", "android.app.SharedPreferencesImpl$2.run", "android.app.QueuedWork.processPendingWork", "android.app.QueuedWork$QueuedWorkHandler.handleMessage"}},
	{label: "a slow provider", reason: BinderKind, kind: run.WaitSleep, where: "binder", peer: "com.example.feed", waits: true, frames: []string{"java.lang.Thread.sleep", "com.example.feed.Provider.query", "android.content.ContentProvider$Transport.query", "android.content.ContentProviderNative.onTransact"}},
	{label: "a slow service of the feed", reason: BinderKind, kind: run.WaitSleep, where: "binder", peer: "com.example.feed", waits: true, frames: []string{"java.lang.Thread.sleep", "com.example.feed.Ranker.rank", "com.example.feed.IFeed$Stub.onTransact"}},
	{label: "packages are locked", reason: IOKind, kind: run.WaitIO, where: "handler", peer: "system_server", waits: true, frames: []string{"!fsync", "com.android.server.pm.Settings.writeLPr", "com.android.server.pm.PackageManagerService.writeSettings", "com.android.server.pm.PackageHandler.doHandleMessage", "com.android.server.pm.PackageHandler.handleMessage"}},
	{label: "activities are locked", reason: BinderKind, kind: run.WaitRunning, where: "handler", peer: "system_server", waits: true, frames: []string{"com.android.server.am.OomAdjuster.computeOomAdjLSP", "com.android.server.am.OomAdjuster.updateOomAdjLSP", "com.android.server.am.ActivityManagerService.updateOomAdjLocked", "com.android.server.am.ProcessList.handleMessage"}},
	{label: "the collector while a picture is read", reason: MemoryKind, kind: run.WaitGC, where: "main", low: true, frames: []string{"android.graphics.BitmapFactory.nativeDecodeStream", "android.graphics.BitmapFactory.decodeStreamInternal", "android.graphics.BitmapFactory.decodeStream", mail + "Avatars.read", mail + "Row.bind", "androidx.recyclerview.widget.RecyclerView$Recycler.tryGetViewHolderForPositionByDeadline", "androidx.recyclerview.widget.LinearLayoutManager.layoutChunk", "androidx.recyclerview.widget.RecyclerView.onLayout", "android.view.View.layout"}},
	{label: "parsing", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: []string{"org.json.JSONTokener.nextValue", "org.json.JSONTokener.readObject", "org.json.JSONObject.<init>", mail + "Feed.parse", mail + "Feed.refresh", mail + "Main.lambda$onResume$2", mail + "Main$$ExternalSyntheticLambda3.run", "android.os.Handler.handleCallback"}},
	{label: "merging", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: []string{"java.util.TimSort.mergeHi", "java.util.TimSort.sort", "java.util.Arrays.sort", mail + "Feed.merge", mail + "Feed.refresh", mail + "Main.lambda$onResume$2", mail + "Main$$ExternalSyntheticLambda3.run", "android.os.Handler.handleCallback"}},
	{label: "an inbox that is composed", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: compose("androidx.compose.ui.text.MultiParagraph.<init>", mail+"InboxKt.Row", mail+"InboxKt.Screen")},
	{label: "a header that is composed", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: compose("androidx.compose.ui.text.MultiParagraph.<init>", mail+"InboxKt.Header", mail+"InboxKt.Screen")},
	{label: "settings that are composed", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: compose("androidx.compose.ui.text.MultiParagraph.<init>", mail+"SettingsKt.Switches", mail+"SettingsKt.Screen")},
	{label: "a chart that is measured", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: measure("android.graphics.Paint.measureText", mail+"Chart.ticks", mail+"Chart.onMeasure")},
	{label: "tags that are measured", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: measure("android.graphics.Paint.measureText", mail+"Tags.rows", mail+"Tags.onMeasure")},
	{label: "nothing any more", reason: IdleKind, kind: run.WaitIdle, where: "main", frames: []string{"android.os.MessageQueue.nativePollOnce", "android.os.MessageQueue.next"}},
	{label: "a deadlock of sync and main", reason: DeadlockKind, kind: run.WaitLock, cycle: []string{"sync", "main"}, frames: []string{mail + "Inbox.refresh", mail + "Store.sync"}},
	{label: "a deadlock of index and main", reason: DeadlockKind, kind: run.WaitLock, cycle: []string{"index", "main"}, frames: []string{mail + "Search.update", mail + "Search.build"}},
	{label: "a name on the network", reason: IOKind, kind: run.WaitUnknown, where: "main", frames: []string{"libcore.io.Linux.android_getaddrinfo", "libcore.io.BlockGuardOs.android_getaddrinfo", "java.net.Inet6AddressImpl.lookupHostByName", "java.net.InetAddress.getAllByName", "okhttp3.Dns$Companion$DnsSystem.lookup", "okhttp3.internal.connection.RouteSelector.resetNextInetSocketAddress", "okhttp3.RealCall.execute", mail + "Login.check", mail + "Login$1.onClick", "android.view.View.performClick", "android.os.Handler.handleCallback"}},
	{label: "a coroutine that compresses", reason: LockKind, kind: run.WaitRunning, where: "coroutine", waits: true, frames: []string{"java.util.zip.Deflater.deflateBytesBytes", "java.util.zip.Deflater.deflate", "java.util.zip.GZIPOutputStream.write", mail + "Upload$send$2.invokeSuspend", "kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith", "kotlinx.coroutines.DispatchedTask.run"}},
	{label: "a cache that is trimmed", reason: LockKind, kind: run.WaitRunning, where: "pool", waits: true, frames: []string{"java.util.HashMap.resize", mail + "Pictures.trim", mail + "Pictures$$ExternalSyntheticLambda1.run"}},
	{label: "native sync", reason: LockKind, kind: run.WaitRunning, where: "pool", waits: true, frames: []string{"#libsync.so sync_loop", "#libsync.so Java_com_example_mail_Native_run", mail + "Native.run", mail + "Native$1.run"}},
	{label: "native coding", reason: LockKind, kind: run.WaitRunning, where: "pool", waits: true, frames: []string{"#libsync.so encode_frame", "#libsync.so Java_com_example_mail_Native_run", mail + "Native.run", mail + "Native$1.run"}},
	{label: "a receiver that unpacks", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: []string{"java.util.zip.Inflater.inflateBytesBytes", "java.util.zip.InflaterInputStream.read", mail + "Unpack.all", mail + "Installed.onReceive", "android.app.ActivityThread.handleReceiver", "android.app.ActivityThread$H.handleMessage"}},
	{label: "a service that hashes", reason: WorkKind, kind: run.WaitRunning, where: "main", frames: []string{"com.android.org.conscrypt.OpenSSLMessageDigestJDK.engineUpdate", "java.security.MessageDigest.update", mail + "Hash.of", mail + "Check.onStartCommand", "android.app.ActivityThread.handleServiceArgs", "android.app.ActivityThread$H.handleMessage"}},
}

// showing makes instances of faults.
type showing struct {
	*rand.Rand
	noise
	builds []build
}

// build is a build of the app: R8's names of the app's methods.
type build struct {
	names map[string]string // "com.example.mail.Store.write" to "a.b.c"
	back  *r8map.Map
}

// builds returns debug builds and obfuscated ones, each with its own names.
func builds(t *testing.T, random *rand.Rand) []build {
	t.Helper()
	classes := map[string][]string{}
	var order []string
	for _, f := range labelledFaults {
		for _, frame := range f.frames {
			if name, ok := strings.CutPrefix(frame, "@"); ok {
				dot := strings.LastIndexByte(name, '.')
				if classes[name[:dot]] == nil {
					order = append(order, name[:dot])
				}
				classes[name[:dot]] = append(classes[name[:dot]], name[dot+1:])
			}
		}
	}
	out := []build{{}}
	for range 3 {
		b := build{names: map[string]string{}}
		var mapping strings.Builder
		for i, place := range random.Perm(len(order)) {
			class, short := order[place], fmt.Sprintf("%c%c.%c", 'a'+i%26, 'a'+i/26, 'a'+random.IntN(26))
			fmt.Fprintf(&mapping, "%s -> %s:\n", class, short)
			for j, method := range classes[class] {
				fmt.Fprintf(&mapping, "    1:900:void %s():1:900 -> %c\n", method, 'a'+j)
				b.names[class+"."+method] = fmt.Sprintf("%s.%c", short, 'a'+j)
			}
		}
		var err error
		if b.back, err = r8map.Read(strings.NewReader(mapping.String())); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// androids are the versions of Android of the set's phones.
var androids = []int{7, 9, 11, 13, 16}

// show returns an instance of a fault.
func (s showing) show(f labelled) run.ANR {
	android, b := 13, build{}
	if s.versions {
		android = androids[s.IntN(len(androids))]
	}
	if s.obfuscated {
		b = s.builds[s.IntN(len(s.builds))]
	}
	a := run.ANR{Kind: run.ANRInput, Process: "com.example.mail", PID: 1000 + s.IntN(20_000), Repetition: 1}
	frames := f.frames
	if s.moments && f.kind == run.WaitRunning && f.cycle == nil {
		frames = s.moment(frames)
	}
	last := run.ANRThread{Kind: f.kind, Process: f.peer, Stack: s.stack(frames, f.where, android, b)}
	switch {
	case f.cycle != nil:
		a.Cycle = true
		for i, name := range f.cycle {
			t := run.ANRThread{Name: name, Kind: run.WaitLock, Stack: s.stack([]string{f.frames[i]}, map[string]string{"main": "main"}[name], android, b)}
			a.Threads = append(a.Threads, t)
		}
	case f.waits:
		victim := []string{mail + "Inbox.open", "android.os.Handler.handleCallback"}
		if s.victims {
			victim = [][]string{victim, {mail + "Feed.refresh", "android.os.Handler.handleCallback"}, {mail + "Row.bind", "android.view.View.layout"}}[s.IntN(3)]
		}
		main := run.ANRThread{Name: "main", Kind: run.WaitLock, WaitsFor: "lock L held by another", Stack: s.stack(victim, "main", android, b)}
		if f.peer != "" {
			main.Kind, main.WaitsFor = run.WaitBinder, "binder I::call ("+f.peer+")"
		}
		a.Threads = []run.ANRThread{main}
		for range s.more() {
			a.Threads = append(a.Threads, run.ANRThread{
				Name: "other", Process: f.peer, Kind: run.WaitLock, WaitsFor: "lock M held by another", Stack: s.stack([]string{"com.example.other.Task.run"}, "pool", android, b),
			})
		}
		fallthrough
	default:
		last.Name = s.thread(f)
		a.Threads = append(a.Threads, last)
		a.Threads[len(a.Threads)-1].Critical = true
	}
	a.Features = s.features(f)
	names := b.back
	if s.unmapped {
		names = nil
	}
	signature.Fill(&a, anr.Dump{}, names)
	return a
}

// more returns how many other threads wait between the two.
func (s showing) more() int {
	if !s.victims || s.IntN(4) > 0 {
		return 0
	}
	return 1 + s.IntN(2)
}

// moment returns a stack as it may look a moment before or after: in another function of the
// libraries that the app calls, or, in one of four cases, in a method of the app that many others
// call.
func (s showing) moment(frames []string) []string {
	switch s.IntN(4) {
	case 0:
		return append([]string{"java.util.HashMap.put", "java.util.HashMap.putVal"}, frames...)
	case 1:
		return append([]string{"java.lang.StringBuilder.append", mail + "Text.trim"}, frames...)
	case 2:
		if !strings.HasPrefix(frames[0], "@") && !strings.HasPrefix(frames[0], "#") {
			return frames[1:]
		}
	}
	return frames
}

func (s showing) number(most int) int {
	if !s.numbers {
		return 1
	}
	return 1 + s.IntN(most)
}

func (s showing) thread(f labelled) string {
	switch f.where {
	case "pool":
		return fmt.Sprintf("pool-%d-thread-%d", s.number(9), s.number(8))
	case "binder":
		return fmt.Sprintf("binder:%d_%d", s.number(9999), s.number(16))
	case "coroutine":
		return fmt.Sprintf("DefaultDispatcher-worker-%d", s.number(8))
	case "handler":
		return "handler"
	}
	return "main"
}

// outer returns the outermost frames of a stack, by version of Android.
func outer(where string, android int) []string {
	looper := []string{"android.os.Handler.dispatchMessage", "android.os.Looper.loopOnce", "android.os.Looper.loop"}
	if android < 12 {
		looper = []string{"android.os.Handler.dispatchMessage", "android.os.Looper.loop"}
	}
	switch where {
	case "main":
		start := []string{"android.app.ActivityThread.main", "java.lang.reflect.Method.invoke", "com.android.internal.os.RuntimeInit$MethodAndArgsCaller.run", "com.android.internal.os.ZygoteInit.main"}
		if android < 9 {
			start[2] = "com.android.internal.os.ZygoteInit$MethodAndArgsCaller.run"
		}
		return append(looper, start...)
	case "handler":
		return append(looper, "android.os.HandlerThread.run")
	case "binder":
		if android < 10 {
			return []string{"android.os.Binder.execTransact"}
		}
		return []string{"android.os.Binder.execTransactInternal", "android.os.Binder.execTransact"}
	case "coroutine":
		return []string{"kotlinx.coroutines.scheduling.CoroutineScheduler.runSafely", "kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.executeTask", "kotlinx.coroutines.scheduling.CoroutineScheduler$Worker.run"}
	case "pool":
		return []string{"java.util.concurrent.ThreadPoolExecutor.runWorker", "java.util.concurrent.ThreadPoolExecutor$Worker.run", "java.lang.Thread.run"}
	}
	return []string{"java.lang.Thread.run"}
}

// stack formats frames as a dump of that version does.
func (s showing) stack(frames []string, where string, android int, b build) []string {
	var out []string
	add := func(frame string) { out = append(out, s.frame(frame, android, b)...) }
	for i := 0; i < len(frames); i++ {
		var loop int
		if n, _ := fmt.Sscanf(frames[i], ">%d", &loop); n == 0 {
			add(frames[i])
			continue
		}
		rounds := 3
		if s.loops {
			rounds = 1 + s.IntN(8)
		}
		for range rounds {
			for _, frame := range frames[i+1 : i+1+loop] {
				add(frame)
			}
		}
		i += loop
	}
	for _, frame := range outer(where, android) {
		add(frame)
	}
	return out[:min(len(out), run.MaxStack)]
}

// frame returns one frame, or its replacement on that version.
func (s showing) frame(frame string, android int, b build) []string {
	java := func(name string) string { return fmt.Sprintf("%s(Source.java:%d)", name, s.number(900)) }
	lib := func(file, function string) string {
		return fmt.Sprintf("native: #00 pc %016x  %s (%s+%d) (BuildId: %08x)", s.number(1<<30), file, function, s.number(400), s.number(1<<30))
	}
	switch {
	case frame == "!fsync":
		libc, kernel := "/apex/com.android.runtime/lib64/bionic/libc.so", "kernel: __arm64_sys_fsync+0x%x/0x28"
		os := []string{java("libcore.io.Linux.fsync"), java("libcore.io.ForwardingOs.fsync"), java("libcore.io.BlockGuardOs.fsync")}
		if android < 10 {
			libc, kernel = "/system/lib64/libc.so", "kernel: SyS_fsync+0x%x/0x19c"
			os = []string{java("libcore.io.Linux.fsync"), java("libcore.io.BlockGuardOs.fsync")}
		}
		out := []string{lib(libc, "fsync")}
		if android == 9 { // an emulator, whose kernel shows its frames
			out = append([]string{fmt.Sprintf("kernel: f2fs_sync_file+0x%x/0x1c", s.number(99)), fmt.Sprintf(kernel, s.number(99))}, out...)
		}
		return append(out, os...)
	case strings.HasPrefix(frame, "#"):
		file, function, _ := strings.Cut(frame[1:], " ")
		path := fmt.Sprintf("/data/app/~~%x==/com.example.mail-%x==/lib/arm64/%s", s.number(1<<30), s.number(1<<30), file)
		if android < 11 {
			path = fmt.Sprintf("/data/app/com.example.mail-%d/lib/arm64/%s", s.number(3), file)
		}
		return []string{lib(path, function)}
	case !strings.HasPrefix(frame, "@"):
		return []string{java(frame)}
	}
	name := frame[1:]
	if short, ok := b.names[name]; ok {
		return []string{java(short)}
	}
	if s.numbers { // lambdas are renumbered in each build
		name = strings.NewReplacer("$2", fmt.Sprint("$", s.number(9)), "Lambda3", fmt.Sprint("Lambda", s.number(9)), "Lambda1", fmt.Sprint("Lambda", s.number(9))).Replace(name)
	}
	return []string{java(name)}
}

// features returns the generic features of an instance.
func (s showing) features(f labelled) []string {
	cpu, app := signature.CPULow, signature.AppCPULow
	if f.kind == run.WaitRunning {
		cpu, app = signature.CPUMedium, signature.AppCPUHigh
	}
	memory := signature.MemoryGood
	if f.low {
		memory = signature.MemoryLow
	}
	if s.load {
		steps := []string{signature.CPULow, signature.CPUMedium, signature.CPUHigh}
		if s.IntN(5) == 0 { // in one of five cases the phone was more or less busy than usual
			cpu = steps[s.IntN(3)]
		}
		if s.IntN(20) == 0 {
			memory = signature.MemoryLow
		}
		if s.IntN(6) == 0 { // in one of six cases that is unknown
			return nil
		}
	}
	return []string{app, cpu, signature.IOWaitLow, memory}
}
