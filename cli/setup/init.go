package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/gradle"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
	"github.com/apkgate/apkgate/usecase/validate"
)

// InitCommand returns apkgate init.
func InitCommand(c terminal.Console) *cobra.Command {
	var o config.InitOptions
	var path string
	var gradleRoot string
	var wanted gradle.Wanted
	var force, events bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented apkgate.yml to start from",
		Long: `Writes a commented apkgate.yml. At the root of a Gradle project whose app no flag names, it
reads the build files, the version catalog, the tests' sources and what is built already: the
application and its id, flavors and build types, where its APKs are or will be, and the
emulators that Gradle manages. It measures Macrobenchmarks if there are any, else a connected
test that drives the app, else the cold start. It says what it found, what it guessed, and
what is left to fill in. Gradle is not run. Of an APK that --apk or --test-apk names, it
reads the package and the tests' runner.

With --events it writes no configuration: it prints the Kotlin lines that mark UI events in
tests with Compose, Espresso or UiAutomator.`,
		Args: arguments.None,
		RunE: func(*cobra.Command, []string) error {
			if events {
				_, err := fmt.Fprint(c.Stdout, kotlinEvents)
				return exit.InfrastructureIf(err)
			}
			found := fromAPKs(path, &o)
			p, err := fromGradle(gradleRoot, wanted, &o)
			if err != nil {
				return err
			}
			p.found = append(found, p.found...)
			return writeConfig(c, path, force, o, p)
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", config.FileName, "the file to write; - is standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file")
	cmd.Flags().StringVar(&o.Package, "package", "", "the app's package, such as com.example.mail")
	cmd.Flags().StringVar(&o.APK, "apk", "", "the APK to install")
	cmd.Flags().StringVar(&o.TestAPK, "test-apk", "", "the APK with the instrumentation tests")
	cmd.Flags().StringVar(&o.TestPackage, "test-package", "", "the package of the instrumentation tests")
	cmd.Flags().StringVar(&o.Class, "class", "", "the test class, or class#method, that is the scenario")
	cmd.Flags().StringVar(&o.Scenario, "scenario", "", "the scenario's name")
	cmd.Flags().StringVar(&wanted.Module, "module", "", "the application's module in the Gradle project, such as :app, where it has several")
	cmd.Flags().StringVar(&wanted.Variant, "variant", "", "the build variant to measure, such as demoRelease")
	cmd.Flags().BoolVar(&events, "events", false, "print the Kotlin lines that mark UI events, and write nothing")
	cmd.Flags().StringVar(&gradleRoot, "gradle", "", "the root of the Gradle project to read (default: this folder, where it is one and no app is named)")
	return cmd
}

// fromAPKs fills in what the APKs that flags name contain, and returns what was found. A file that
// can't be read is left to doctor. Paths are relative to the configuration, as in it.
func fromAPKs(configuration string, o *config.InitOptions) (found []string) {
	identity := func(path string) (string, []string, bool) {
		if path == "" {
			return "", nil, false
		}
		if configuration != "-" && !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(configuration), path)
		}
		return validate.Identity(path)
	}
	if pkg, _, ok := identity(o.APK); ok && o.Package == "" {
		o.Package = pkg
		found = append(found, fmt.Sprintf("the application %s in %s", pkg, prose.Short(o.APK)))
	}
	if pkg, runners, ok := identity(o.TestAPK); ok && o.TestPackage == "" {
		o.TestPackage = pkg
		found = append(found, fmt.Sprintf("the tests %s in %s", pkg, prose.Short(o.TestAPK)))
		if len(runners) == 1 && runners[0] != config.DefaultRunner {
			o.Runner = runners[0]
		}
	}
	return found
}

func writeConfig(c terminal.Console, path string, force bool, o config.InitOptions, p project) error {
	text, err := config.Init(o)
	if err != nil {
		return exit.Usage(err, "")
	}
	if path == "-" {
		p.print(c)
		_, err := c.Stdout.Write(text)
		return exit.InfrastructureIf(err)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage(fmt.Errorf("%s exists already", path), "--force replaces it")
	}
	if err != nil {
		return exit.Usage(fmt.Errorf("write the configuration: %w", err), "")
	}
	if _, err := f.Write(text); err != nil {
		return exit.Infrastructure(errors.Join(err, f.Close()))
	}
	if err := f.Close(); err != nil {
		return exit.Infrastructure(err)
	}
	p.print(c)
	fmt.Fprintf(c.Stdout, "%s is written. Next: %s.\n", terminal.Plain(path), p.next(path))
	return nil
}
