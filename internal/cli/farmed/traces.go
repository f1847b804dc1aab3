package farmed

import (
	"context"

	"github.com/apkgate/apkgate/device/farm"
	"github.com/apkgate/apkgate/evidence"
	"github.com/apkgate/apkgate/run"
)

func (l *Lab) keepTraces(ctx context.Context, r *run.Run, o farm.Outcome, keep evidence.Keeper, iterations int) {
}
