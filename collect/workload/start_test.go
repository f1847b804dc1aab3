package workload

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apkgate/apkgate/collect/journal"
)

// A stopped workload on this computer is over before anything else begins.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, stops := range []time.Duration{3 * time.Second, 0} { // 0: never
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			over := false
			host := func(ctx context.Context, _ string, _ ...string) ([]byte, int, error) {
				<-ctx.Done()
				if stops == 0 {
					<-t.Context().Done()
				}
				time.Sleep(stops)
				over = true
				return nil, 0, ctx.Err()
			}
			j := journal.New("pixel", nil)
			w := Plan{Host: host}.startHost(ctx, "maestro")
			synctest.Wait()
			w.Stop(j)
			if warned := len(j.Warnings) > 0; over == warned || over != (stops > 0) {
				t.Errorf("it is over: %v, warned: %v; it takes %v to stop", over, warned, stops)
			}
			cancel()
		})
	}
}
