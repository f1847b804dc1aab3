package gradle

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func project(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// planned reads a project and returns its plan.
func planned(t *testing.T, w Wanted, files map[string]string) Plan {
	t.Helper()
	p, err := Read(project(files))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(w)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// built are the parts of a plan that say what is installed and what drives it.
type built struct {
	workload                                               Workload
	pkg, testPackage, runner, class, apk, testAPK, command string
}

func of(p Plan) built {
	return built{p.Workload, p.Package, p.TestPackage, p.Runner, p.Class, p.APK, p.TestAPK, p.Command}
}

// says asserts that each text is part of one of the sentences, and how many there are.
func says(t *testing.T, what string, sentences []string, n int, want ...string) {
	t.Helper()
	for _, w := range want {
		if !slices.ContainsFunc(sentences, func(s string) bool { return strings.Contains(s, w) }) {
			t.Errorf("%s: nothing of %q in %q", what, w, sentences)
		}
	}
	if len(sentences) != n {
		t.Errorf("%s: %d sentences, want %d: %q", what, len(sentences), n, sentences)
	}
}

// A project as Android Studio creates one, in Kotlin.
var kotlin = map[string]string{
	"settings.gradle.kts": "rootProject.name = \"Mail\"\ninclude(\":app\", // the app\n    \":macrobenchmark\")\ninclude(\":lib\")\n",
	"build.gradle.kts":    "plugins { id(\"com.android.application\") version \"8.7.0\" apply false }\n",
	"app/build.gradle.kts": `plugins { alias(libs.plugins.android.application) }
android {
    namespace = "com.example.mail.app"
    defaultConfig { applicationId = "com.example.mail"; minSdk = 24 }
    signingConfigs { create("own") { storeFile = file("${properties.getProperty("store")}/{x") } }
    buildTypes {
        release { isMinifyEnabled = true }
        create("benchmark") {
            initWith(buildTypes.getByName("release"))
            applicationIdSuffix = ".bench"
            signingConfig = signingConfigs.getByName("debug")
        }
    }
}`,
	"macrobenchmark/build.gradle.kts": `import com.android.build.api.dsl.ManagedVirtualDevice
plugins {
    id("com.android.test")
}
/* android { targetProjectPath = ":old" } */
android {
    namespace = "com.example.macro"
    defaultConfig { testInstrumentationRunner = "androidx.test.runner.AndroidJUnitRunner" }
    buildTypes {
        create("benchmark") { isDebuggable = true }
    }
    targetProjectPath = ":app"
    experimentalProperties["android.experimental.self-instrumenting"] = true
    testOptions.managedDevices.allDevices {
        @Suppress("UnstableApiUsage")
        create<ManagedVirtualDevice>("pixel6Api34") {
            device = "Pixel 6" // as Studio has it
            apiLevel = 34
            systemImageSource = "aosp-atd"
        }
        maybeCreate<com.android.build.api.dsl.ManagedVirtualDevice>("latest").apply {
            device = "Pixel 8"
            apiLevel = libs.versions.targetSdk.get().toInt()
        }
    }
}
dependencies { implementation("androidx.benchmark:benchmark-macro-junit4:1.3.3") }
`,
	"lib/build.gradle.kts":      "plugins { id(\"com.android.library\") }\nandroid { namespace = \"com.example.lib\" }\n",
	"gradle/libs.versions.toml": "[versions]\ncompileSdk = \"36\"\n[plugins]\nandroid-application = { id = \"com.android.application\", version = \"8.7.0\" }\n",
}

func TestReadKotlin(t *testing.T) {
	t.Parallel()
	p := planned(t, Wanted{}, kotlin)
	want := built{
		workload: Macrobenchmark, pkg: "com.example.mail.bench", testPackage: "com.example.macro", runner: "androidx.test.runner.AndroidJUnitRunner",
		apk:     "app/build/outputs/apk/benchmark/app-benchmark.apk",
		testAPK: "macrobenchmark/build/outputs/apk/benchmark/macrobenchmark-benchmark.apk",
		command: "./gradlew :app:assembleBenchmark :macrobenchmark:assembleBenchmark",
	}
	if got := of(p); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	says(t, "left", p.Left, 0)
	says(t, "guessed", p.Guessed, 0)
	says(t, "found", p.Found, 2, "the application :app (com.example.mail.bench)", "the Macrobenchmark module :macrobenchmark, which tests :app")
	emulators := []Emulator{{"pixel6Api34", "Pixel 6", "34", "aosp-atd"}, {"latest", "Pixel 8", "", "google"}}
	if !slices.Equal(p.Emulators, emulators) {
		t.Errorf("%+v, want %+v", p.Emulators, emulators)
	}
}

// The same in Groovy, with flavors, a module in a folder, and the plugin of baseline profiles,
// which creates the build types.
func TestReadGroovy(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"settings.gradle": "include ':apps:mail',\n  ':bench'\n",
		"apps/mail/build.gradle": `apply plugin: 'com.android.application'
apply plugin: 'androidx.baselineprofile'
android {
  namespace 'com.example.mail'
  defaultConfig {
    applicationId 'com.example.mail'
  }
  flavorDimensions 'shop'
  productFlavors {
    play { dimension 'shop' }
    foss { dimension 'shop'
      applicationIdSuffix '.foss' }
  }
}`,
		"bench/build.gradle": `plugins { id 'com.android.test'
  id 'androidx.baselineprofile' }
android {
  namespace 'com.example.bench'
  targetProjectPath ':apps:mail'
  testOptions {
    managedDevices {
      localDevices {
        pixel2api30 {
          device = 'Pixel 2'
          apiLevel = 30
          systemImageSource = 'aosp'
        }
      }
      groups { phones { targetDevices.add(devices.pixel2api30) } }
    }
  }
}`,
	}
	p := planned(t, Wanted{}, files)
	want := built{
		workload: Macrobenchmark, pkg: "com.example.mail", testPackage: "com.example.bench",
		apk:     "apps/mail/build/outputs/apk/play/benchmarkRelease/mail-play-benchmarkRelease.apk",
		testAPK: "bench/build/outputs/apk/benchmarkRelease/bench-benchmarkRelease.apk",
		command: "./gradlew :apps:mail:assemblePlayBenchmarkRelease :bench:assembleBenchmarkRelease",
	}
	if got := of(p); got != want {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	says(t, "left", p.Left, 0)
	says(t, "guessed", p.Guessed, 1, "of the flavors play, foss, play is measured: --variant names another")
	if e := []Emulator{{"pixel2api30", "Pixel 2", "30", "aosp"}}; !slices.Equal(p.Emulators, e) {
		t.Errorf("%+v, want %+v", p.Emulators, e)
	}
	other := planned(t, Wanted{Variant: "fossBenchmarkRelease"}, files)
	if other.Package != "com.example.mail.foss" || other.APK != "apps/mail/build/outputs/apk/foss/benchmarkRelease/mail-foss-benchmarkRelease.apk" {
		t.Errorf("foss is %+v", of(other))
	}
}

// Values that are not literal are left open, with what to fill in, and not guessed.
func TestReadLeavesUnknownValues(t *testing.T) {
	t.Parallel()
	p := planned(t, Wanted{}, map[string]string{
		"settings.gradle.kts":    "pluginManagement { includeBuild(\"build-logic\") }\ninclude(\":app\")\ninclude(\":bench\")\ninclude(\":broken\")\ninclude(\":..:up\")",
		"app/build.gradle.kts":   "android { defaultConfig { applicationId = AppConfig.id } }",
		"bench/build.gradle.kts": "android { targetProjectPath = projects.app.path\n namespace = \"com.${name}\" }\ndependencies { implementation(libs.benchmark.macro) }",
		"broken/build.gradle":    "android {",
	})
	says(t, "left", p.Left, 6, "remove -unsigned from app.apk", "the applicationId of :app is not written down plainly: fill in app.package", "fill in test-package",
		"broken/build.gradle: a brace is not closed", ":..:up is not looked at", "instruments itself")
	says(t, "guessed", p.Guessed, 2, "plugins of its own", "no build type")
	if p.Package != "" || p.TestPackage != "" || p.APK != "app/build/outputs/apk/release/app-release-unsigned.apk" || !slices.Equal(p.Fill, []string{"app.package", "test-package"}) {
		t.Errorf("guessed: %+v", p)
	}
}

// Names are followed where they are assigned a literal: in the file, in the root's, in
// gradle.properties, in the catalog, in scripts that are applied and in precompiled plugins.
func TestReadFollowsNames(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ file, text, more, source string }{
		"a val":             {"app/build.gradle.kts", `val id = "com.example.a"; android { defaultConfig { applicationId = id } }`, "", ""},
		"a template":        {"app/build.gradle.kts", `val base = "com.example"; android { defaultConfig { applicationId = "$base.a" } }`, "", ""},
		"a sum":             {"app/build.gradle", `def base = 'com.example'; android { defaultConfig { applicationId base + ".a" } }`, "", ""},
		"the root's ext":    {"app/build.gradle", `android { defaultConfig { applicationId rootProject.ext.appId } }`, "build.gradle", "ext { appId = 'com.example.a' }"},
		"a build script's":  {"app/build.gradle", `android { defaultConfig { applicationId appId } }`, "build.gradle", "buildscript { ext.appId = 'com.example.a'\n repositories { google() } }"},
		"a block of it":     {"app/build.gradle", `android { defaultConfig { applicationId "${rootProject.ext.appId}" } }`, "build.gradle", "buildscript {\n ext {\n  appId = 'com.example.a'\n }\n}"},
		"the root's extra":  {"app/build.gradle.kts", `android { defaultConfig { applicationId = rootProject.extra["appId"] as String } }`, "build.gradle.kts", `extra["appId"] = "com.example.a"`},
		"a property":        {"app/build.gradle.kts", `android { defaultConfig { applicationId = providers.gradleProperty("app.id").get() } }`, "gradle.properties", "app.id=com.example.a\n"},
		"the catalog":       {"app/build.gradle.kts", `android { defaultConfig { applicationId = libs.versions.app.id.get() } }`, "gradle/libs.versions.toml", "[versions]\napp-id = \"com.example.a\"\n"},
		"a script":          {"app/build.gradle", `apply from: "../common.gradle"`, "common.gradle", "android { defaultConfig { applicationId 'com.example.a' } }"},
		"a plugin":          {"app/build.gradle.kts", `plugins { id("mail.app") }`, "buildSrc/src/main/kotlin/mail.app.gradle.kts", `android { defaultConfig { applicationId = "com.example.a" } }`},
		"the manifest":      {"app/build.gradle", `plugins { id 'com.android.application' }`, "app/src/main/AndroidManifest.xml", "<manifest\n  xmlns:android=\"x\" package=\"com.example.a\">"},
		"a word of its own": {"app/build.gradle.kts", `android { defaultConfig.applicationId = "com.example.a" }`, "", ""},
	} {
		files := map[string]string{"settings.gradle": "include ':app'", c.file: c.text}
		if c.more != "" {
			files[c.more] = c.source
		}
		if p := planned(t, Wanted{}, files); p.Package != "com.example.a" {
			t.Errorf("%s: the package is %q, left %q", what, p.Package, p.Left)
		}
	}
}

// What no device installs, or what a convention alone says, is not taken in silence.
func TestStartIsMeasuredOnWhatInstalls(t *testing.T) {
	t.Parallel()
	const signed = "signingConfig = signingConfigs.getByName(\"debug\")"
	for what, c := range map[string]struct{ types, apk, guessed string }{
		"unsigned":  {"release { }", "app-debug.apk", "debug"},
		"signed":    {"release { " + signed + " }", "app-release.apk", "cold start"},
		"perhaps":   {"release { if (keys.exists()) { " + signed + " } }", "app-debug.apk", "debug"},
		"null":      {"release { signingConfig = null }", "app-debug.apk", "debug"},
		"benchmark": {"create(\"benchmark\") { initWith(getByName(\"debug\")) }", "app-benchmark.apk", "cold start"},
		"staging":   {"create(\"staging\") { " + signed + " }", "app-staging.apk", "cold start"},
		"inherited": {"release { " + signed + " }; create(\"benchmark\") { initWith(buildTypes.named(\"release\").get()) }", "app-benchmark.apk", "cold start"},
	} {
		p := planned(t, Wanted{}, map[string]string{
			"settings.gradle": "include ':app'", "app/build.gradle.kts": "plugins { id(\"com.android.application\") }\nandroid { namespace = \"com.example.a\"; buildTypes { " + c.types + " } }",
		})
		if !strings.HasSuffix(p.APK, "/"+c.apk) || p.Workload != Startup || !strings.Contains(strings.Join(p.Guessed, "\n"), c.guessed) {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

func TestReadRejects(t *testing.T) {
	t.Parallel()
	for what, files := range map[string]map[string]string{
		"nothing": {}, "too large": {"settings.gradle": strings.Repeat(" ", maxFile+1)},
		"too deep":       {"settings.gradle": strings.Repeat("a{", maxDepth+1)},
		"too many words": {"settings.gradle": strings.Repeat("a ", maxTokens+1)},
	} {
		if p, err := Read(project(files)); err == nil {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(kotlin["settings.gradle.kts"], kotlin["app/build.gradle.kts"], kotlin["macrobenchmark/build.gradle.kts"], kotlin["gradle/libs.versions.toml"])
	f.Fuzz(func(t *testing.T, settings, app, bench, catalog string) {
		p, err := Read(project(map[string]string{
			"settings.gradle": settings, "app/build.gradle": app, "macrobenchmark/build.gradle": bench, "gradle/libs.versions.toml": catalog,
			"app/src/androidTest/java/A.kt": bench,
		}))
		if err != nil {
			return
		}
		plan, err := p.Plan(Wanted{})
		if err != nil || len(plan.Left) > maxNotes || len(plan.Emulators) > maxFound || plan.Package != "" && !identifier.MatchString(plan.Package) {
			t.Errorf("%+v, %v", plan, err)
		}
	})
}
