package gradle

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withTests is an app with connected tests of several kinds.
var withTests = map[string]string{
	"settings.gradle": "include ':app'",
	"app/build.gradle": `plugins { id 'com.android.application' }
android { namespace 'com.example.a'
  defaultConfig { testInstrumentationRunner 'com.example.a.HiltRunner' }
  buildTypes { debug { applicationIdSuffix 'dev' } } }`,
	// Android Studio's own, which draws nothing.
	"app/src/androidTest/java/com/example/a/ExampleInstrumentedTest.kt": "package com.example.a\n@RunWith(AndroidJUnit4::class)\nclass ExampleInstrumentedTest {\n    @Test\n    fun useAppContext() {}\n}\n",
	"app/src/androidTest/java/com/example/a/DaoTest.kt":                 "package com.example.a\nclass DaoTest {\n    @Test\n    fun reads() { Room.inMemoryDatabaseBuilder() }\n}\n",
	"app/src/androidTest/java/com/example/a/AboutTest.java":             "package com.example.a;\npublic class AboutTest {\n    @Rule public ActivityTestRule<Main> r;\n    @Test\n    public void opens() {}\n}\n",
	"app/src/androidTest/java/com/example/a/ScrollInboxTest.kt":         "package com.example.a\nabstract class Base\ndata class Mail(val id: Int)\n@RunWith(AndroidJUnit4::class)\nclass ScrollInboxTest {\n    @get:Rule val rule = createAndroidComposeRule<Main>()\n    @Test fun scrolls() {}\n}\n",
	"app/src/androidTest/java/com/example/a/IgnoredTest.kt":             "package com.example.a\n@Ignore\nclass IgnoredTest { val d = UiDevice.getInstance()\n    @Test\n    fun x() {} }\n",
}

func TestConnectedTestIsChosen(t *testing.T) {
	t.Parallel()
	p := planned(t, Wanted{}, withTests)
	want := built{
		workload: Connected, pkg: "com.example.a.dev", testPackage: "com.example.a.dev.test", runner: "com.example.a.HiltRunner", class: "com.example.a.ScrollInboxTest",
		apk: "app/build/outputs/apk/debug/app-debug.apk", testAPK: "app/build/outputs/apk/androidTest/debug/app-debug-androidTest.apk",
		command: "./gradlew :app:assembleDebug :app:assembleDebugAndroidTest",
	}
	if got := of(p); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	says(t, "guessed", p.Guessed, 2, "of 2 connected tests of :app that drive the app, com.example.a.ScrollInboxTest is measured: --class names another, such as com.example.a.AboutTest", "the build type debug")
	const silent = "com.example.a.ScrollInboxTest has no line that marks a UI event, and reports show the whole run alone: apkgate init --events"
	says(t, "left", p.Left, 1, silent)
	says(t, "left for a release", planned(t, Wanted{Variant: "release"}, withTests).Left, 3, silent, "Gradle builds the connected tests of :app for the build type debug alone: set testBuildType = \"release\" in it", "-unsigned")
	for _, marks := range []string{`Log.i("apkgate", "open")`, `rule.before("open").onNode()`, `uiEvent("open")`} {
		files := maps.Clone(withTests)
		files["app/src/androidTest/java/com/example/a/ScrollInboxTest.kt"] += "// " + marks
		if p := planned(t, Wanted{}, files); len(p.Left) != 0 {
			t.Errorf("%s: %q", marks, p.Left)
		}
	}
	if p := planned(t, Wanted{Class: "com.example.a.AboutTest#opens"}, withTests); p.Class != "com.example.a.AboutTest#opens" || p.Workload != Connected {
		t.Errorf("chosen: %+v", p)
	}
}

// A module that only makes baseline profiles measures nothing.
func TestProfileGeneratorIsNoBenchmark(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"settings.gradle": "include ':app', ':profile'", "app/build.gradle": "plugins { id 'com.android.application' }\nandroid { namespace 'com.example.a' }",
		"profile/build.gradle":            "plugins { id 'com.android.test' }\nandroid { namespace 'com.example.p'\n targetProjectPath ':app' }\ndependencies { implementation 'androidx.benchmark:benchmark-macro-junit4:1.3.3' }",
		"profile/src/main/java/p/Make.kt": "package p\nclass Make {\n    @get:Rule val rule = BaselineProfileRule()\n    @Test fun generate() {}\n}",
	}
	if p := planned(t, Wanted{}, files); p.Workload != Startup || p.TestAPK != "" {
		t.Errorf("%+v", p)
	}
	files["profile/src/main/java/p/Start.kt"] = "package p\nclass Start {\n    @get:Rule val rule = MacrobenchmarkRule()\n    @Test fun start() {}\n}"
	if p := planned(t, Wanted{}, files); p.Workload != Macrobenchmark || p.TestPackage != "com.example.p" {
		t.Errorf("with a benchmark: %+v", p)
	}
}

func TestOneOfSeveralApplications(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"settings.gradle":              "include ':wear', ':phone-app', ':tv'\nproject(':tv').projectDir = file('apps/television')",
		"wear/build.gradle":            "plugins { id 'com.android.application' }\nandroid { namespace 'com.example.wear' }",
		"phone-app/build.gradle":       "plugins { id 'com.android.application' }\nandroid { namespace 'com.example.phone' }",
		"apps/television/build.gradle": "plugins { id 'com.android.application' }\nandroid { namespace 'com.example.tv' }",
	}
	p := planned(t, Wanted{}, files)
	if p.Package != "com.example.wear" {
		t.Errorf("%+v", p)
	}
	says(t, "guessed", p.Guessed, 3, "of the applications :wear, :phone-app, :tv, :wear is measured: --module names another")
	if p := planned(t, Wanted{Module: "tv"}, files); p.APK != "apps/television/build/outputs/apk/debug/tv-debug.apk" {
		t.Errorf("%+v", p)
	}
	read, err := Read(project(files))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []Wanted{{Module: ":lib"}, {Variant: "demoRelease"}} {
		if plan, err := read.Plan(w); err == nil {
			t.Errorf("%+v: %+v", w, plan)
		}
	}
}

// A flavor of each dimension makes the variant: the default one, or else the first.
func TestFlavorsOfTwoDimensions(t *testing.T) {
	t.Parallel()
	p := planned(t, Wanted{}, map[string]string{
		"settings.gradle": "include ':app'", "app/build.gradle.kts": `plugins { id("com.android.application") }
android {
    defaultConfig { applicationId = "com.example.a" }
    flavorDimensions += listOf("stage", "shop")
    productFlavors {
        create("play") { dimension = "shop"; applicationIdSuffix = "play" }
        create("foss") { dimension = "shop"; isDefault = true }
        register("demo") { dimension = "stage"; applicationIdSuffix = ".demo" }
        register("prod") { dimension = "stage"; applicationId = "com.example.prod" }
    }
    buildTypes { release { signingConfig = signingConfigs.getByName("debug") } }
}`,
	})
	if p.APK != "app/build/outputs/apk/demoFoss/release/app-demo-foss-release.apk" || p.Package != "com.example.a.demo" || p.Command != "./gradlew :app:assembleDemoFossRelease" {
		t.Errorf("%+v", p)
	}
}

// What was built says what build files can't: the package, and where the APK is.
func TestBuiltAPKsAreTaken(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"settings.gradle.kts":                                     "pluginManagement { includeBuild(\"build-logic\") }\ninclude(\":app\")",
		"app/build.gradle.kts":                                    "plugins { id(\"mail.android.application\") }\nandroid { buildTypes { release { applicationIdSuffix = Suffix.OF; signingConfig = signingConfigs.getByName(\"debug\") } } }",
		"app/src/main/AndroidManifest.xml":                        "<manifest/>",
		"app/build/outputs/apk/demo/release/output-metadata.json": `{"version":3,"applicationId":"com.example.demo","variantName":"demoRelease","elements":[{"type":"ONE_OF_MANY","outputFile":"app-arm.apk"},{"type":"UNIVERSAL","outputFile":"mail-1.2.apk"}]}`,
		"app/build/outputs/apk/demo/release/mail-1.2.apk":         "x",
		"app/build/outputs/apk/demo/debug/output-metadata.json":   `{"applicationId":"com.example.demo.debug","variantName":"demoDebug","elements":[{"type":"SINGLE","outputFile":"../../../x.apk"}]}`,
		"app/build/outputs/apk/evil/release/output-metadata.json": `{"applicationId":"not a package","variantName":"evilRelease","elements":[{"type":"SINGLE","outputFile":"a.apk"}]}`,
	}
	p := planned(t, Wanted{}, files)
	if p.Package != "com.example.demo" || p.APK != "app/build/outputs/apk/demo/release/mail-1.2.apk" || p.Command != "" {
		t.Errorf("%+v", p)
	}
	says(t, "guessed", p.Guessed, 2, ":app is an application: its plugin's name says so (mail.android.application)")
}

// Nothing outside of the project is read, and nothing that never ends.
func TestHostileFilesAreNotOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	for name, text := range map[string]string{
		"project/settings.gradle": "include ':app', ':out', ':folder'", "project/app/build.gradle": "plugins { id 'com.android.application' }\napply from: '../../outside.gradle'\napply from: someScript\nandroid { namespace 'com.example.a' }",
		"outside.gradle": "android { defaultConfig { applicationId 'com.example.outside' } }", "project/folder/build.gradle/x": "",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "out"), 0o755), os.Symlink(filepath.Join(dir, "outside.gradle"), filepath.Join(root, "out/build.gradle")), os.Symlink(root, filepath.Join(root, "app/src"))); err != nil {
		t.Skip(err)
	}
	inside, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	p, err := Read(inside.FS())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(Wanted{})
	if err != nil || plan.Package != "com.example.a" {
		t.Errorf("%+v, %v", plan, err)
	}
	says(t, "left", plan.Left, 4, ":app applies ../../outside.gradle, which is not looked at", ":app applies a script that is not looked at", "the module :out is not looked at", "folder/build.gradle is no regular file")
}

// A project of more files than are looked at says so.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	p, err := Read(project(withTests))
	if err != nil {
		t.Fatal(err)
	}
	*p.tree.left = 4
	plan, err := p.Plan(Wanted{})
	if err != nil || !slices.ContainsFunc(plan.Left, func(s string) bool { return strings.Contains(s, "no more than 20000 files are looked at") }) {
		t.Errorf("nothing of the limit: %q, %v", plan.Left, err)
	}
}

// A text that is never closed is searched for its end once, not from each of its quotes.
func TestUnclosedTextsTakeLittleTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{`"\"`, `"${`, "'\\'", `"""${`} {
		_, _ = tokens(strings.Repeat(part, maxFile/len(part)))
	}
}
