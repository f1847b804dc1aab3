package avd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apkgate/apkgate/device/console"
	"github.com/apkgate/apkgate/device/hostprogram"
	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/device/lab/lease"
)

// Stop ends the emulator of a lease and deletes the AVD that was created for it. It asks the
// console, then sends SIGTERM, and then kills. It returns once the process has ended, its
// ports are closed, adb no longer lists the device, and the AVD's folder is deleted.
func (l *Lab) Stop(ctx context.Context, held lease.Lease, tell func(string)) error {
	if held.Kind != Kind {
		return failure(fmt.Sprintf("stop %s: the lease is of the lab %q", held.ID, held.Kind), "")
	}
	found, err := l.processes(held)
	if held.Elsewhere() && len(found) == 0 {
		return failure(fmt.Sprintf("stop %s: it was started on the computer %s", held.ID, held.Owner.Host), "run apkgate devices clean there; where that computer is no more, remove the lease's file")
	}
	if err != nil {
		tell(err.Error())
	}
	console := consolePort(held)
	if console > 0 && l.askToEnd(ctx, held.ID, console) {
		tell(fmt.Sprintf("asked the emulator %s (%s) to end", held.ID, serialOf(console)))
		l.waitForEnd(ctx, found)
	}
	if err := l.kill(held, tell); err != nil {
		return err
	}
	if console > 0 {
		if err := l.closed(held.ID, console); err != nil {
			return err
		}
		l.waitUntilUnlisted(ctx, console, tell)
	}
	l.forget(held.ID)
	return remove(held)
}

// forget releases what this process holds for an emulator that has ended.
func (l *Lab) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.running[id]; r != nil {
		r.port.leave()
		delete(l.running, id)
	}
}

// consolePort returns the port in the lease, 0 for none.
func consolePort(held lease.Lease) int {
	n, err := strconv.Atoi(held.Detail[notePort])
	if err != nil || n < firstPort || n > lastPort {
		return 0
	}
	return n
}

// processes returns the lease's processes, among those with its name on their command line:
// the noted one, an emulator that may have been started without being noted, and an avdmanager
// that may have been left behind. A process is not killed on the lease's word alone, unless
// command lines can't be read.
func (l *Lab) processes(held lease.Lease) (ids []hostprogram.ID, err error) {
	noted, notedErr := hostprogram.ParseID(held.Detail[noteProcess])
	found, err := hostprogram.Find(held.ID)
	if errors.Is(err, errors.ErrUnsupported) {
		if notedErr == nil && noted.Alive() {
			ids = append(ids, noted)
		}
		return ids, nil
	}
	for _, f := range found {
		if f.ID == noted || isSDKs(f.Args) {
			ids = append(ids, f.ID)
		}
	}
	return ids, err
}

// isSDKs reports whether a command line is the emulator's, its engine's, or avdmanager's,
// which is a script or Java. A search or an editor with a lease's name must not be killed.
func isSDKs(args []string) bool {
	for i, arg := range args {
		base := strings.TrimSuffix(filepath.Base(arg), ".exe")
		switch {
		case i < 2 && (base == "emulator" || base == "avdmanager" || base == "emulator-headless" || strings.HasPrefix(base, "qemu-system-")):
			return true
		case strings.HasSuffix(arg, ".AvdManagerCli"):
			return true
		}
	}
	return false
}

// askToEnd asks the emulator to end through its console, if it is the lease's: another
// emulator may have taken its port.
func (l *Lab) askToEnd(ctx context.Context, id string, port int) bool {
	c, err := console.Open(ctx, port)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	return isOurs(ctx, c, id) && c.Kill(ctx) == nil
}

// isOurs reports whether the console is that of the lease's emulator: a created AVD has the
// lease's name, and each emulator has it as its id.
func isOurs(ctx context.Context, c *console.Console, id string) bool {
	if name, err := c.Name(ctx); err == nil && name == id {
		return true
	}
	said, err := c.Do(ctx, "avd id")
	return err == nil && strings.TrimSpace(said) == id
}

// waitForEnd waits until the processes have ended, or the timeout.
func (l *Lab) waitForEnd(ctx context.Context, ids []hostprogram.ID) {
	const apart = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, l.patience.end)
	defer cancel()
	for slices.ContainsFunc(ids, hostprogram.ID.Alive) {
		if boot.Pause(ctx, apart) != nil {
			return
		}
	}
}

// kill stops the lease's remaining processes, and searches again for processes that they have
// started since.
func (l *Lab) kill(held lease.Lease, tell func(string)) error {
	const rounds = 3
	for range rounds {
		ids, err := l.processes(held)
		if err != nil {
			return retryable("stop "+held.ID+": "+err.Error(), "")
		}
		if len(ids) == 0 {
			return nil
		}
		for _, id := range ids {
			tell(fmt.Sprintf("stopping the process %d of the emulator %s", id.PID, held.ID))
			if err := id.Stop(l.patience.term); err != nil {
				return retryable("stop "+held.ID+": "+err.Error(), fmt.Sprintf("kill the process %d by hand, and run apkgate devices clean", id.PID))
			}
		}
	}
	return retryable(fmt.Sprintf("stop %s: new processes of it keep starting", held.ID), "see who starts them: `ps -ef | grep "+held.ID+"`")
}

// closed checks that the emulator's console no longer answers.
func (l *Lab) closed(id string, port int) error {
	const longest = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	c, err := console.Open(ctx, port)
	if err != nil {
		return nil // another emulator's console
	}
	defer func() { _ = c.Close() }()
	if isOurs(ctx, c, id) {
		return retryable(fmt.Sprintf("stop %s: its console still answers on port %d", id, port), fmt.Sprintf("end it by hand: adb -s %s emu kill", serialOf(port)))
	}
	return nil
}

// waitUntilUnlisted waits until adb no longer lists the device, and reports if it still does. The
// ports are closed by then, and adb servers drop a device when its connection breaks.
func (l *Lab) waitUntilUnlisted(ctx context.Context, port int, tell func(string)) {
	w, err := l.serverOf()
	if err != nil {
		return
	}
	if !isFree(port) {
		return // another emulator has taken the port
	}
	const apart = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, l.patience.forget)
	defer cancel()
	state := ""
	for {
		infos, err := w.server.Devices(ctx)
		if ctx.Err() == nil && err != nil {
			return // no server is running
		}
		if err == nil {
			if state = stateOf(infos, serialOf(port)); state == "" {
				return
			}
		}
		if boot.Pause(ctx, apart) != nil {
			break
		}
	}
	if state != "" {
		tell(fmt.Sprintf("adb still lists %s (%s), though the emulator is gone", serialOf(port), state))
	}
}

// remove deletes the home of the AVD that was created for the lease. A home that is not named
// after the lease is not deleted.
func remove(held lease.Lease) error {
	home := held.Detail[noteHome]
	if home == "" {
		return nil
	}
	if !filepath.IsAbs(home) || filepath.Base(filepath.Clean(home)) != held.ID || !lease.IsID(held.ID) {
		return failure(fmt.Sprintf("delete the AVD %s: the lease names the folder %q, which does not have the AVD's name", held.ID, home), "see what the folder is, and remove the lease's file")
	}
	if err := os.RemoveAll(home); err != nil {
		return &boot.Error{Lab: title, What: "delete the AVD " + held.ID + ": " + err.Error(), Advice: "remove the folder " + home + " by hand", Retry: true}
	}
	return nil
}
