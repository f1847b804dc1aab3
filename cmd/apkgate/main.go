// Command apkgate gates pull requests on Android apps: it measures an app's workloads on devices,
// compares each run with the history of accepted ones, and passes or fails the build with the
// evidence. It is implemented in package cli.
package main

import (
	"os"

	"github.com/apkgate/apkgate/cli"
)

func main() { os.Exit(cli.Main(cli.Process(), os.Args[1:])) }
