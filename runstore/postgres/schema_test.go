package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The released steps of the schema are unchanged. To change the schema, add a step, and its digest
// here.
func TestReleasedSchemaStays(t *testing.T) {
	want := map[string]string{
		"schema/0001_history.sql":     "5d2e635ccbfc54e5a8c6b3106b027cc94e5d49ce8d5de00cbe9632c16d348e69",
		"schema/0002_batch.sql":       "f8ba459a80b823f2049bbbd27715736c671cd6dc36f7c95daf3608d017e3cb26",
		"schema/0003_repetitions.sql": "1f1c3967b3b3c533d5506bb55174890cf2dd46fb16f703e72d37a86fdb233c9a",
		"schema/0005_teams.sql":       "1e4843441a06278e0262e6b357fd90f83979543a3834970053c4bf22a5e084a4",
		"schema/0004_anrs.sql":        "1e1e0fa74f29f53986d7a7398baabac1110f0c11f8dbd25e9d05b3d2ff9b2a2e",
	}
	got := map[string]string{}
	files, err := schemaFiles.ReadDir("schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := "schema/" + f.Name()
		sum := sha256.Sum256([]byte(mustRead(name)))
		got[name] = hex.EncodeToString(sum[:])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("a step of the schema was changed (-released +here):\n%s", d)
	}
	if len(migrations) != len(want) {
		t.Errorf("there are %d steps of %d files", len(migrations), len(want))
	}
}
