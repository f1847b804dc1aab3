package storetest

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/apkgate/apkgate/run"
)

// ToldIn returns the record of the run as databases stored it when a time kept its own time zone,
// that far east, and its digest.
func ToldIn(t *testing.T, r run.Run, east time.Duration) (digest, packed []byte) {
	t.Helper()
	r.ID = ""
	data, err := run.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	there := r.Started.In(time.FixedZone("", int(east.Seconds())))
	told := bytes.Replace(data, []byte(r.Started.UTC().Format(time.RFC3339)), []byte(there.Format(time.RFC3339)), 1)
	if bytes.Equal(told, data) {
		t.Fatal("the record has no such time")
	}
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer packer.Close()
	sum := sha256.Sum256(told)
	return sum[:], packer.EncodeAll(told, nil)
}
