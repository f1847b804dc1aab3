package energymeter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
	"github.com/apkgate/apkgate/collect/loss"
	"github.com/apkgate/apkgate/internal/prose"
)

// How long a device rests unless configured: before its first repetition, and again after it was
// lost, since it may have restarted; and after another build was installed, when it is warm
// already.
const (
	firstSettle = 2 * time.Minute
	laterSettle = 30 * time.Second
	settleStep  = 5 * time.Second
)

// Settle rests the device between the warm-up and the first repetition, so that the effects of
// installing and warming up are over (EDATA, section 3.7.2).
func (m *Meter) Settle(ctx context.Context) error {
	rest := m.settleTime()
	if err := m.t.Leave(ctx, rest); err != nil {
		return m.fail(err)
	}
	for left := rest; left > 0; left -= settleStep {
		m.t.Journal.Report(journal.Settle, 0, 0, fmt.Sprintf("%s left", prose.Duration(left.Round(time.Second))))
		if err := errors.Join(m.t.Lost(), m.t.Clock.Sleep(ctx, min(left, settleStep))); err != nil {
			return m.fail(err)
		}
	}
	if rest > 0 {
		if err := m.t.CoolDown(ctx); err != nil {
			return m.fail(err)
		}
	}
	m.settled = true
	return nil
}

func (m *Meter) fail(err error) error {
	return loss.Of(m.t.Name, loss.Infrastructure, journal.Settle, 0, err)
}

// settleTime returns how long the device is to rest now.
func (m *Meter) settleTime() time.Duration {
	switch {
	case m.settings.Settle != nil:
		return *m.settings.Settle
	case !m.choice.Source.Measured():
		return 0
	case m.settled:
		return laterSettle
	}
	return firstSettle
}
