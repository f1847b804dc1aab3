package setup_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/cli"
	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/device/adb"
	"github.com/apkgate/apkgate/device/adb/adbtest"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// layout is a kind of Gradle project, with what init says of it and a run of it does.
type layout struct {
	name, pkg, apk, scenario string
	files                    map[string]string
	said                     []string // on the standard error of init
	tests                    string   // what the simulated test APK has
}

const (
	instrumentedTest = "package com.example.mail\n@RunWith(AndroidJUnit4::class)\nclass OpenMessageTest {\n    @get:Rule val rule = createAndroidComposeRule<MainActivity>()\n    @Test\n    fun opens() {}\n}\n"
	benchmark        = "package com.example.macro\nclass StartupBenchmark {\n    @get:Rule val rule = MacrobenchmarkRule()\n    @Test\n    fun cold() {}\n}\n"
	unsigned         = "guessed: the build type debug is measured, since release has no signingConfig for sure, and no device installs app/build/outputs/apk/release/app-release-unsigned.apk"
)

var layouts = []layout{
	{
		name: "Groovy, one module", pkg: "com.example.mail.debug", apk: "app/build/outputs/apk/debug/app-debug.apk", scenario: "cold-start",
		files: map[string]string{
			"settings.gradle":                  "rootProject.name = 'Mail'\ninclude ':app'\n",
			"build.gradle":                     "ext { appId = 'com.example.mail' }\n",
			"app/build.gradle":                 "apply plugin: 'com.android.application'\nandroid {\n  defaultConfig { applicationId rootProject.ext.appId }\n  buildTypes { debug { applicationIdSuffix '.debug' }\n    release { minifyEnabled true } }\n}\n",
			"app/src/main/AndroidManifest.xml": "<manifest package=\"com.example.mail.old\"/>",
		},
		said: []string{"found: the application :app (com.example.mail.debug)", unsigned, "build it with: ./gradlew :app:assembleDebug", "guessed: the app's cold start is measured"},
	},
	{
		name: "Kotlin with a version catalog", pkg: "com.example.mail", apk: "app/build/outputs/apk/debug/app-debug.apk", scenario: "open-message",
		files: map[string]string{
			"settings.gradle.kts":       "include(\":app\", \":core\")\n",
			"build.gradle.kts":          "plugins { alias(libs.plugins.android.application) apply false }\n",
			"gradle/libs.versions.toml": "[versions]\nappId = \"com.example.mail\"\n[plugins]\nandroid-application = { id = \"com.android.application\", version = \"8.7.0\" }\nandroid-library = \"com.android.library:8.7.0\"\n",
			"app/build.gradle.kts":      "plugins { alias(libs.plugins.android.application) }\nandroid {\n    namespace = \"com.example.mail.app\"\n    defaultConfig {\n        applicationId = libs.versions.appId.get()\n        testInstrumentationRunner = \"androidx.test.runner.AndroidJUnitRunner\"\n    }\n}\n",
			"core/build.gradle.kts":     "plugins { alias(libs.plugins.android.library) }\nandroid { namespace = \"com.example.core\" }\n",
			"app/src/androidTest/kotlin/com/example/mail/OpenMessageTest.kt": instrumentedTest,
		},
		said:  []string{"found: the connected test com.example.mail.OpenMessageTest of :app", "guessed: the build type debug is measured, which connected tests go with", "build it with: ./gradlew :app:assembleDebug :app:assembleDebugAndroidTest"},
		tests: "package com.example.mail.test\ntests com.example.mail\ntest com.example.mail.OpenMessageTest open\n",
	},
	{
		name: "flavors", pkg: "com.example.mail.demo", apk: "app/build/outputs/apk/demo/release/app-demo-release.apk", scenario: "cold-start",
		files: map[string]string{
			"settings.gradle.kts": "include(\":app\")\n",
			"app/build.gradle.kts": `plugins { id("com.android.application") }
android {
    namespace = "com.example.mail"
    flavorDimensions += "stage"
    productFlavors {
        create("demo") { dimension = "stage"; applicationIdSuffix = ".demo" }
        create("prod") { dimension = "stage" }
    }
    buildTypes { release { signingConfig = signingConfigs.getByName("debug") } }
}
`,
		},
		said: []string{"guessed: of the flavors demo, prod, demo is measured: --variant names another", "build it with: ./gradlew :app:assembleDemoRelease"},
	},
	{
		name: "a Macrobenchmark module", pkg: "com.example.mail", apk: "app/build/outputs/apk/benchmark/app-benchmark.apk", scenario: "macrobenchmark",
		files: map[string]string{
			"settings.gradle.kts":  "include(\":app\")\ninclude(\":macro\")\n",
			"app/build.gradle.kts": "plugins { id(\"com.android.application\") }\nandroid {\n    namespace = \"com.example.mail\"\n    buildTypes { create(\"benchmark\") { initWith(getByName(\"release\")); signingConfig = signingConfigs.getByName(\"debug\") } }\n}\n",
			"macro/build.gradle.kts": `plugins { id("com.android.test") }
android {
    namespace = "com.example.macro"
    targetProjectPath = ":app"
    buildTypes { create("benchmark") { isDebuggable = true; signingConfig = getByName("debug").signingConfig } }
    experimentalProperties["android.experimental.self-instrumenting"] = true
}
dependencies { implementation(libs.androidx.benchmark.macro.junit4) }
`,
			"macro/src/main/java/com/example/macro/StartupBenchmark.kt": benchmark,
		},
		said:  []string{"found: the Macrobenchmark module :macro, which tests :app", "build it with: ./gradlew :app:assembleBenchmark :macro:assembleBenchmark"},
		tests: "package com.example.macro\ntests com.example.mail\nbenchmark com.example.macro.StartupBenchmark#cold cold 3\n",
	},
	{
		name: "two applications by a plugin of the project's own", pkg: "com.example.mail", apk: "apps/mobile/build/outputs/apk/release/mobile-release.apk", scenario: "cold-start",
		files: map[string]string{
			"settings.gradle.kts": "include(\":wear\", \":mobile\")\nproject(\":mobile\").projectDir = file(\"apps/mobile\")\n",
			"buildSrc/src/main/kotlin/mail.android.application.gradle.kts": "plugins { id(\"com.android.application\") }\nandroid { buildTypes { getByName(\"release\") { signingConfig = signingConfigs.getByName(\"debug\") } } }\n",
			"wear/build.gradle.kts":        "plugins { id(\"mail.android.application\") }\nandroid { namespace = \"com.example.mail.wear\" }\n",
			"apps/mobile/build.gradle.kts": "plugins { id(\"mail.android.application\") }\nval base = \"com.example\"\nandroid { namespace = \"$base.mail\" }\n",
		},
		said: []string{"guessed: of the applications :wear, :mobile, :mobile is measured: --module names another", "guessed: the APKs are where the build files alone put them", "build it with: ./gradlew :mobile:assembleRelease"},
	},
}

// Five kinds of Gradle project get from init to a first run without an edit.
func TestInitLeadsToARun(t *testing.T) {
	server, _ := adbtest.Server(t)
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			phone, err := simulator.Start("pixel-7-android-14", 1, simulator.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { phone.Close() })
			through := adb.NewServer(server, adb.Options{})
			if _, err := through.Connect(t.Context(), phone.Address()); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := through.Disconnect(t.Context(), phone.Address()); err != nil {
					t.Error(err)
				}
			}()
			t.Chdir(t.TempDir())
			for name, text := range l.files {
				write(t, name, text)
			}
			apkgate := func(args ...string) (status int, stdout, stderr string) {
				var out, said bytes.Buffer
				c := terminal.Console{
					Stdin: strings.NewReader(""), Stdout: &out, Stderr: &said, Now: time.Now, Clock: phone.Clock(),
					Getenv: func(name string) string {
						// The serial, since the server may see the emulators of other tests.
						return map[string]string{"HOME": ".", "ADB_SERVER_SOCKET": "tcp:" + server, "ANDROID_SERIAL": phone.Address()}[name]
					},
				}
				return cli.Main(c, args), out.String(), said.String()
			}
			status, stdout, stderr := apkgate("init")
			if want := "apkgate.yml is written. Next: build the APKs, then apkgate doctor, then apkgate run.\n"; status != exit.StatusPass || stdout != want {
				t.Fatalf("init ends with %d: %s%s", status, stdout, stderr)
			}
			for _, want := range l.said {
				if !strings.Contains(stderr, want) {
					t.Errorf("nothing of %q in\n%s", want, stderr)
				}
			}
			l.build(t)
			if status, stdout, stderr := apkgate("run", "--repetitions", "2"); status != exit.StatusPass {
				t.Errorf("run ends with %d: %s%s", status, stdout, stderr)
			}
			if _, list, _ := apkgate("baseline", "list", "--by", "run"); !strings.Contains(list, l.scenario) || !strings.Contains(list, "inconclusive") {
				t.Errorf("the history is\n%s", list)
			}
		})
	}
}

// build writes the APKs where the configuration expects them.
func (l layout) build(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(config.FileName)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.FileName, text, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.App.Package != l.pkg || filepath.ToSlash(cfg.App.APK) != l.apk || (cfg.App.TestAPK != "") != (l.tests != "") {
		t.Fatalf("the app is %+v", cfg.App)
	}
	write(t, cfg.App.APK, "apkgate-simulated-app/1\npackage "+l.pkg+"\nscenario open 2s\n  start 30\n  0.9s open-message 40\n")
	if l.tests != "" {
		write(t, cfg.App.TestAPK, "apkgate-simulated-app/1\n"+l.tests)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, name, text)
}

// The Kotlin lines are those of the documentation, and nothing is written.
func TestInitPrintsEvents(t *testing.T) {
	doc, err := os.ReadFile("../../docs/collection/events.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	got := clitest.Run(t, nil, "init", "--events")
	if got.Status != exit.StatusPass || !strings.Contains(string(doc), "```kotlin\n"+got.Stdout+"```\n") || !strings.Contains(got.Stdout, "ComposeTestRule") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(config.FileName); err == nil {
		t.Error("a configuration is written")
	}
}
