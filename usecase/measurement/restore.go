package measurement

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/collect/target"
	"github.com/apkgate/apkgate/device/devicelock"
)

// Restore undoes what a killed run left changed on the device, and returns what that was. If
// somebody uses the device, nothing is done, and the error is a *devicelock.HeldError.
func (d Device) Restore(ctx context.Context, now time.Time) (told []string, err error) {
	me := devicelock.Me(now)
	me.Doing = "apkgate devices restore"
	taken, err := devicelock.Take(devicelock.Folder(), d.key, me)
	var held *devicelock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, loss.Final(d.Name, loss.Infrastructure, fmt.Errorf("the device is %w", err), "wait for it to end")
	case err == nil:
		defer taken.Release()
		me.Lock = taken.Lock()
	}
	t := target.New(d.Name, d.Clock, now, d.Open)
	t.Journal, t.Owner, t.Console = journal.New(d.Name, nil), &me, d.port
	err = t.Restore(ctx)
	for _, w := range t.Journal.Warnings {
		told = append(told, w.Text)
	}
	return told, err
}

// Shared reports whether anybody else may use the device.
func (d Device) Shared() bool { return d.key != "" }

// Hold takes the device for this process for any other use: on this computer, and by a mark on the
// device. It fails at once if somebody else has it.
func (d Device) Hold(ctx context.Context, doing string) (release func(), err error) {
	if d.key == "" {
		return func() {}, nil
	}
	me := devicelock.Me(time.Now())
	me.Doing = doing
	taken, err := devicelock.Take(devicelock.Folder(), d.key, me)
	var held *devicelock.HeldError
	if errors.As(err, &held) {
		return nil, loss.Final(d.Name, loss.Infrastructure, fmt.Errorf("the device is %w", err), "wait for it to end")
	}
	give := func() {}
	if err == nil {
		me.Lock, give = taken.Lock(), taken.Release
	}
	unmark, err := d.mark(ctx, me)
	if err != nil {
		give()
		return nil, err
	}
	return func() { unmark(); give() }, nil
}

// mark marks the device over its own connection, and renews the mark until end is called. A device
// that supports no mark has none.
func (d Device) mark(ctx context.Context, me devicelock.Owner) (end func(), err error) {
	dev, err := d.Open(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", d.Name, err)
	}
	begun := time.Now()
	hold, _, err := devicelock.Mark(ctx, dev.Exec, me, 0, ":")
	var held *devicelock.HeldError
	switch {
	case errors.Is(err, devicelock.ErrNoMark):
		return func() { _ = dev.Close() }, nil
	case errors.As(err, &held):
		return nil, errors.Join(loss.Final(d.Name, loss.Infrastructure, fmt.Errorf("the device is %w", err), "wait for it to end"), dev.Close())
	case err != nil:
		return nil, errors.Join(err, dev.Close())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(devicelock.RenewEvery):
				if beat := hold.Renewal(time.Since(begun)); beat != "" {
					_, _ = dev.Exec(ctx, beat+":") // the measurement detects that the device is gone
				}
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		last, stop := context.WithTimeout(context.Background(), releaseFor)
		defer stop()
		_, _ = dev.Exec(last, hold.Release()) // else the mark expires
		_ = dev.Close()
	}, nil
}

// releaseFor is how long removing the mark may take.
const releaseFor = 5 * time.Second
