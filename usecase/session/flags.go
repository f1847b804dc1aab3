package session

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/config"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/measurement"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// Flags select what is measured: only the rest, only a share, or nothing.
type Flags struct {
	Resume bool
	Merge  []string
	// Shard is "k/n", for a command that has the flag; "" is all.
	Shard string
}

// Refuse rejects the flags for a command that measures nothing they apply to.
func (f Flags) Refuse(why string) error {
	switch {
	case f.Resume:
		return exit.Usage(errors.New("--resume: "+why), "leave it out")
	case len(f.Merge) > 0:
		return exit.Usage(errors.New("--merge: "+why), "leave it out")
	}
	return nil
}

// check rejects flags that exclude each other, and parses the shard.
func (f Flags) check(c Command) (*Shard, error) {
	switch {
	case len(f.Merge) > 0 && f.Resume:
		return nil, exit.Usage(errors.New("--merge and --resume: nothing is measured that could be resumed"), "leave one of them out; a shard that was interrupted is resumed by its own command")
	case len(f.Merge) > 0 && f.Shard != "":
		return nil, exit.Usage(errors.New("--merge and --shard: a share is measured, and all shares are merged"), "leave one of them out")
	case f.Shard == "":
		return nil, nil
	}
	shard, err := parseShard(f.Shard)
	switch {
	case err != nil:
		return nil, exit.Usage(err, "")
	case c.Output == "":
		return nil, exit.Usage(errors.New("--shard leaves its runs in a file for --merge, and --output names none"), "name one: --output part-"+strconv.Itoa(shard.K)+extension)
	case len(c.Config.Devices) == 0:
		return nil, exit.Usage(errors.New("--shard shares out devices and scenarios, and the configuration names no devices"), "name them under devices")
	}
	return &shard, nil
}

// Config reads the configuration as measurement.Config does. Merging needs none of the files that
// it names, except to measure alternately what the merged runs leave undecided.
func (f Flags) Config(c terminal.Console, path string, cf measurement.CollectFlags) (*config.Config, error) {
	cfg, err := measurement.Config(path, cf)
	if err == nil || cfg == nil || len(f.Merge) == 0 {
		return cfg, err
	}
	fmt.Fprintf(c.Stderr, "warning: nothing can be measured alternately here: %s\n", terminal.Plain(strings.ReplaceAll(err.Error(), "\n", "; ")))
	app := &cfg.App
	app.APK, app.Splits, app.TestAPK, app.OrchestratorAPK, app.TestServicesAPK, app.Mapping = "", nil, "", "", "", ""
	return cfg, nil
}

// Shard is the k-th of n shares.
type Shard struct {
	K int `json:"k"`
	N int `json:"n"`
}

// String returns the shard as the flag has it.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.K, s.N) }

func (s Shard) check() error {
	if s.N < 1 || s.N > maxShards || s.K < 1 || s.K > s.N {
		return fmt.Errorf("shard %v, want k/n with k from 1 to n and n up to %d", s, maxShards)
	}
	return nil
}

func parseShard(text string) (Shard, error) {
	left, right, _ := strings.Cut(text, "/")
	k, errK := strconv.Atoi(left)
	n, errN := strconv.Atoi(right)
	s := Shard{k, n}
	if errK != nil || errN != nil || s.check() != nil {
		return s, fmt.Errorf("--shard is %q, want k/n with k from 1 to n and n up to %d, such as 2/5", prose.Short(text), maxShards)
	}
	return s, nil
}
