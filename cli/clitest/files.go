package clitest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// Record returns a run of one iteration, with additional fields of the record.
func Record(id, fields, metrics string) string {
	return fmt.Sprintf(`{"format":"apkgate.run/1","id":%q,"app":{"package":"app"},"scenario":"s","context":{},%s"iterations":[{"metrics":%s}]}`+"\n", id, fields, metrics)
}

// Sound returns n runs without any problem.
func Sound(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(Record(fmt.Sprintf("H%d", i), "", fmt.Sprintf(`{"memory.pss_kb":%d}`, 600+i%7)))
	}
	return b.String()
}

// WriteFile writes a file, and returns its path.
func WriteFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Gzipped returns the content compressed by gzip.
func Gzipped(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// ReadFile returns the content of a file.
func ReadFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
