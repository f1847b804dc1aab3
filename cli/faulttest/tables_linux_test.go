package faulttest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/cli/clitest"
	"github.com/apkgate/apkgate/trace/perfetto/field"
	"github.com/apkgate/apkgate/trace/perfetto/tracetest"
	"github.com/apkgate/apkgate/usecase/exit"
)

// TestNoRoomForTheRowsOfATable has more requests of a block device than fit into memory, and one
// megabyte for the others: the error says so and what to do, and nothing is left behind.
func TestNoRoomForTheRowsOfATable(t *testing.T) {
	const many, together = 401_000, 1_000
	var trace, bundle tracetest.Message
	for i := range int64(many) {
		bundle = bundle.In(field.BundleEvent, tracetest.Message(nil).Num(field.EventTimestamp, 1000+i).Num(field.EventPID, 10).
			In(field.EventBlockRqIssue, tracetest.Message(nil).Num(field.BlockRqIssueSector, i%50_000).Num(field.BlockRqIssueNrSector, 1)))
		if i%together == together-1 {
			trace, bundle = trace.In(field.TracePacket, tracetest.Message(nil).In(field.PacketFtraceEvents, bundle)), bundle[:0]
		}
	}
	path := clitest.WriteFile(t, filepath.Join(t.TempDir(), "trace.pftrace"), string(trace))
	disk := smallDisk(t)
	t.Setenv("TMPDIR", disk)
	got := clitest.Run(t, nil, "inspect", "perfetto", path, "--table", "block-io")
	message, hint := clitest.Complaint(t, got)
	if got.Status != exit.StatusInfrastructure || !strings.Contains(message, "keep rows of a table in a temporary file") ||
		!strings.Contains(message, "no space left") || !strings.Contains(hint, "TMPDIR") {
		t.Errorf("exit status %d: %s; %s", got.Status, message, hint)
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
}
