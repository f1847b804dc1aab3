package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// InitCommand returns apkgate init.
func InitCommand(c terminal.Console) *cobra.Command {
	var o config.InitOptions
	var path string
	var gradleRoot string
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented apkgate.yml to start from",
		Long: `Writes a commented apkgate.yml. At the root of a Gradle project whose app it is not
told of, it reads from the build files which module holds Macrobenchmarks, which app
they test, where their APKs will be, and the emulators that Gradle manages; it says what
it found and what is left to fill in. Gradle is not run.`,
		Args: arguments.None,
		RunE: func(*cobra.Command, []string) error {
			if err := fromGradle(c, gradleRoot, &o); err != nil {
				return err
			}
			return writeConfig(c, path, force, o)
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
	cmd.Flags().StringVar(&gradleRoot, "gradle", "", "the root of the Gradle project to read (default: this folder, where it is one and no app is named)")
	return cmd
}

func writeConfig(c terminal.Console, path string, force bool, o config.InitOptions) error {
	text, err := config.Init(o)
	if err != nil {
		return exit.Usage(err, "")
	}
	if path == "-" {
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
	fmt.Fprintf(c.Stdout, "%s is written. Next: fill in app and scenarios, then apkgate doctor, then apkgate run.\n", path)
	return nil
}
