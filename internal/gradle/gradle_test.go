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

// A project as Android Studio creates one, in Kotlin.
var kotlin = map[string]string{
	"settings.gradle.kts": "rootProject.name = \"Mail\"\ninclude(\":app\", // the app\n    \":macrobenchmark\")\ninclude(\":lib\")\n",
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
	"lib/build.gradle.kts": "plugins { id(\"com.android.library\") }\nandroid { namespace = \"com.example.lib\" }\n",
}

func TestReadKotlin(t *testing.T) {
	t.Parallel()
	p, err := Read(project(kotlin))
	if err != nil || p.Benchmark == nil || p.App == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	want := Built{
		Package: "com.example.mail.bench", TestPackage: "com.example.macro", Runner: "androidx.test.runner.AndroidJUnitRunner",
		APK:     "app/build/outputs/apk/benchmark/app-benchmark.apk",
		TestAPK: "macrobenchmark/build/outputs/apk/benchmark/macrobenchmark-benchmark.apk",
		Command: "./gradlew :app:assembleBenchmark :macrobenchmark:assembleBenchmark",
	}
	if got := p.Build(); got != want || len(p.Left) > 0 {
		t.Errorf("%+v\nwant %+v\nleft %q", got, want, p.Left)
	}
	emulators := []Emulator{{"pixel6Api34", "Pixel 6", "34", "aosp-atd"}, {"latest", "Pixel 8", "", "google"}}
	if !slices.Equal(p.Emulators, emulators) {
		t.Errorf("%+v, want %+v", p.Emulators, emulators)
	}
}

// The same in Groovy, with flavors, a module in a folder, and the plugin of baseline profiles,
// which creates the build types.
func TestReadGroovy(t *testing.T) {
	t.Parallel()
	p, err := Read(project(map[string]string{
		"settings.gradle": "include ':apps:mail',\n  ':bench'\n",
		"apps/mail/build.gradle": `apply plugin: 'com.android.application'
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
	}))
	if err != nil || p.Benchmark == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	want := Built{
		Package: "com.example.mail", TestPackage: "com.example.bench",
		APK:     "apps/mail/build/outputs/apk/play/benchmarkRelease/mail-play-benchmarkRelease.apk",
		TestAPK: "bench/build/outputs/apk/benchmarkRelease/bench-benchmarkRelease.apk",
		Command: "./gradlew :apps:mail:assemblePlayBenchmarkRelease :bench:assembleBenchmarkRelease",
	}
	if got := p.Build(); got != want || len(p.Left) != 1 || !strings.Contains(p.Left[0], "play, foss") {
		t.Errorf("%+v\nwant %+v\nleft %q", got, want, p.Left)
	}
	if e := []Emulator{{"pixel2api30", "Pixel 2", "30", "aosp"}}; !slices.Equal(p.Emulators, e) {
		t.Errorf("%+v, want %+v", p.Emulators, e)
	}
}

// Values that are not literal are left open, with what to fill in, and not guessed.
func TestReadLeavesUnknownValues(t *testing.T) {
	t.Parallel()
	p, err := Read(project(map[string]string{
		"settings.gradle.kts":    "pluginManagement { includeBuild(\"build-logic\") }\ninclude(\":app\")\ninclude(\":bench\")\ninclude(\":broken\")\ninclude(\":..:up\")",
		"app/build.gradle.kts":   "android { defaultConfig { applicationId = AppConfig.id } }",
		"bench/build.gradle.kts": "android { targetProjectPath = projects.app.path\n namespace = \"com.${name}\" }",
		"broken/build.gradle":    "android {",
	}))
	if err != nil || p.Benchmark == nil || p.App != nil {
		t.Fatalf("%+v, %v", p, err)
	}
	b := p.Build()
	all := strings.Join(p.Left, "\n")
	for _, want := range []string{"fill in app.package", "fill in app.apk", "fill in test-package", ":broken is not looked at: a brace is not closed", ":..:up is not looked at", "plugins of its own", "no build type", "instruments itself"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not left: %s", want, all)
		}
	}
	if b.Package != "" || b.TestPackage != "" {
		t.Errorf("guessed: %+v", b)
	}
}

func TestReadRejects(t *testing.T) {
	t.Parallel()
	for what, files := range map[string]map[string]string{
		"nothing": {}, "too large": {"settings.gradle": strings.Repeat(" ", maxFile+1)},
		"too deep": {"settings.gradle": strings.Repeat("a{", maxDepth+1)}, "an open text": {"settings.gradle": "include 'a"},
		"too many words": {"settings.gradle": strings.Repeat("a ", maxTokens+1)},
	} {
		if p, err := Read(project(files)); err == nil {
			t.Errorf("%s: %+v", what, p)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(kotlin["settings.gradle.kts"], kotlin["app/build.gradle.kts"], kotlin["macrobenchmark/build.gradle.kts"])
	f.Fuzz(func(t *testing.T, settings, app, bench string) {
		p, err := Read(project(map[string]string{"settings.gradle": settings, "app/build.gradle": app, "macrobenchmark/build.gradle": bench}))
		if err != nil {
			return
		}
		if b := p.Build(); len(p.Left) > maxLeft || len(p.Emulators) > maxFound || b.Package != "" && !identifier.MatchString(b.Package) {
			t.Errorf("%+v, %+v", p, b)
		}
	})
}
