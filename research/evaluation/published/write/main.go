// Command write writes the files of series that docs/evaluation/single-questions.md is about:
//
//	go run ./research/evaluation/published/write -corpus ../shared/corpus DIR
//
// It reads published measurements and writes a file for each set of series into the folder. It
// judges nothing.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/apkgate/apkgate/research/evaluation/published"
	"github.com/apkgate/apkgate/research/evaluation/series"
)

func main() {
	corpus := flag.String("corpus", "../shared/corpus", "the folder of what others published")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "write takes one argument: the folder to write series into")
		os.Exit(2)
	}
	if err := write(*corpus, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(3)
	}
}

func write(corpus, dir string) error {
	monsoon, batterystats, err := published.Energy(corpus)
	if err != nil {
		return err
	}
	macro, err := published.Benchmarks(corpus)
	if err != nil {
		return err
	}
	pushes, err := published.Pushes(corpus)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, all := range map[string][]series.Series{
		"monsoon": monsoon, "batterystats": batterystats, "macro": macro, "pushes": pushes,
		"quiet": published.Quiet(slices.Concat(batterystats, monsoon)),
		"all":   slices.Concat(batterystats, monsoon, macro),
	} {
		if err := series.Check(all); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		data, err := json.Marshal(all)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name+".json"), append(data, '\n'), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s.json: %d series\n", name, len(all))
	}
	return nil
}
