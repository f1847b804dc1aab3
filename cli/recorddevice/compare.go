package recorddevice

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/apkgate/apkgate/cli/arguments"
	"github.com/apkgate/apkgate/device"
	"github.com/apkgate/apkgate/device/recording"
	"github.com/apkgate/apkgate/device/recording/fidelity"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/simulator"
	"github.com/apkgate/apkgate/simulator/simapp"
	"github.com/apkgate/apkgate/usecase/exit"
	"github.com/apkgate/apkgate/usecase/replay"
	"github.com/apkgate/apkgate/usecase/simulated"
	"github.com/apkgate/apkgate/usecase/terminal"
)

// formats of the table.
var formats = []string{"text", "json"}

func compareCommand(c terminal.Console) *cobra.Command {
	var profile, format string
	cmd := &cobra.Command{
		Use:   "compare DIR",
		Short: "Compare a recording with a simulated phone",
		Long: `Asks a simulated phone what was asked in the recording, in the same order, and
compares the answers: exact, by shape (the same lines, keys and columns with other
values), or different. Where the recorded app is a real one, a simulated app of its name
represents it.`,
		Args: arguments.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return exit.BadValue("format", format, formats)
			}
			return compare(cmd.Context(), c, args[0], profile, format)
		},
	}
	cmd.Flags().StringVar(&profile, "simulated", "", "the profile of the simulated phone (apkgate devices --simulated), instead of the one that the recording names")
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	return cmd
}

// comparison is the result of a comparison, as JSON has it.
type comparison struct {
	Format  string          `json:"format"`
	Of      string          `json:"recording_of"`
	Profile string          `json:"simulated"`
	Exact   int             `json:"exact"`
	Shape   int             `json:"by_shape"`
	Unlike  int             `json:"unlike"`
	Rows    []comparisonRow `json:"questions"`
}

type comparisonRow struct {
	Asked string `json:"asked"`
	Times int    `json:"times"`
	Alike int    `json:"alike"`
	Like  string `json:"like"`
	Why   string `json:"why,omitempty"`
	// Forms are of the first pair that is unlike, if it is text.
	Forms fidelity.Forms `json:"forms,omitzero"`
}

func compare(ctx context.Context, c terminal.Console, dir, profile, format string) error {
	r, err := recording.Read(dir)
	if err != nil {
		return exit.Usage(err, "apkgate record-device makes one")
	}
	var profiles []string
	for _, p := range simulator.Profiles() {
		profiles = append(profiles, p.Name)
	}
	if profile = cmp.Or(profile, r.Profile); !slices.Contains(profiles, profile) {
		return exit.BadValue("simulated", profile, profiles)
	}
	found := comparison{Format: "apkgate.held/1", Of: string(r.Of), Profile: profile}
	for _, made := range r.Runs {
		rows, err := against(ctx, c, r, made, profile)
		if err != nil {
			return exit.Infrastructure(fmt.Errorf("compare %s with the simulated %s: %w", made.Unit.Unit, profile, err))
		}
		for _, row := range rows {
			found.add(row)
		}
	}
	return found.print(c, format)
}

func (h *comparison) add(row fidelity.Row) {
	switch row.Like {
	case fidelity.Exact:
		h.Exact++
	case fidelity.Shape:
		h.Shape++
	case fidelity.Unlike:
		h.Unlike++
	}
	h.Rows = append(h.Rows, comparisonRow{row.Asked, row.Times, row.Alike, row.Like.String(), row.Why, row.Forms})
}

func (h *comparison) print(c terminal.Console, format string) error {
	if format == "json" {
		encoder := json.NewEncoder(c.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(h)
	}
	for _, row := range h.Rows {
		fmt.Fprintf(c.Stdout, "%-8s %4d of %-4d %s\n", row.Like, row.Alike, row.Times, terminal.Plain(prose.Clip(row.Asked, 160)))
		if row.Why != "" {
			fmt.Fprintf(c.Stdout, "%22s%s\n", "", terminal.Plain(row.Why))
		}
	}
	fmt.Fprintf(c.Stdout, "%s of a recording of %s, compared with the simulated %s: %d exact, %d by shape, %d different\n",
		prose.Count(len(h.Rows), "question", "questions"), replay.InWords(recording.Of(h.Of)), h.Profile, h.Exact, h.Shape, h.Unlike)
	return nil
}

// against compares one run with a phone of its own.
func against(ctx context.Context, c terminal.Console, r *recording.Recording, made recording.Run, profile string) (rows []fidelity.Row, err error) {
	phones, err := simulated.Of(c, 0)
	if err != nil {
		return nil, err
	}
	phone, err := phones.Start("held", profile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, phone.Close()) }()
	d, err := simulated.Open(phone)(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	temporary, err := os.MkdirTemp("", "apkgate-held-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for simulated apps: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	builds := builds{r: r, device: d, folder: temporary}
	if r.Of == recording.OfCaptures { // which begin with a running app
		if err := builds.running(ctx, phone.Clock()); err != nil {
			return nil, err
		}
	}
	return fidelity.Compare(ctx, r, made, fidelity.Other{Device: d, Clock: phone.Clock(), Install: builds.install})
}

// builds are installed on a simulated phone instead of what was recorded.
type builds struct {
	r      *recording.Recording
	device device.Device
	folder string
	next   int // of the recording's packages
}

// install installs the simulated apps of the recording, or a stand-in for a real app.
func (b *builds) install(ctx context.Context, recorded []recording.File) error {
	var paths []string
	for _, f := range recorded {
		path := filepath.Join(b.r.Dir, replay.BuildsFolder, filepath.Base(f.Name))
		if text, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(text), "apkgate-simulated-app/") {
			paths = append(paths, path)
		}
	}
	if len(paths) == len(recorded) {
		return b.device.Install(ctx, paths...)
	}
	path, err := b.standIn()
	if err != nil {
		return err
	}
	return b.device.Install(ctx, path)
}

// standIn writes the stand-in for the recording's next package: the app, and then its test.
func (b *builds) standIn() (path string, err error) {
	name := []string{"demo-good", "demo-test"}[min(b.next, 1)]
	text, err := simapp.Open(name)
	if err != nil || len(b.r.Packages) == 0 {
		return "", errors.Join(err, errors.New("the recording names no package"))
	}
	renamed := string(text)
	if len(b.r.Packages) > 1 {
		renamed = strings.ReplaceAll(renamed, "com.example.demo.test", b.r.Packages[1])
	}
	renamed = strings.ReplaceAll(renamed, "com.example.demo", b.r.Packages[0])
	path = filepath.Join(b.folder, fmt.Sprintf("%d.apk", b.next))
	b.next++
	return path, os.WriteFile(path, []byte(renamed), 0o600)
}

// running makes the app of captures run and draw.
func (b *builds) running(ctx context.Context, clock device.Clock) error {
	if len(b.r.Packages) == 0 {
		return nil
	}
	if err := b.install(ctx, []recording.File{{Name: "of captures"}}); err != nil {
		return err
	}
	const draws = 5 * time.Second
	if _, err := b.device.Exec(ctx, device.Quote("am", "start", "-n", b.r.Packages[0]+"/.InboxActivity")); err != nil {
		return err
	}
	return clock.Sleep(ctx, draws)
}
