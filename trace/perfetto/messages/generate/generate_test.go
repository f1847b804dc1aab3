package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

const declaration = `# Said before all.
Outer.Inner In decoder numbers
	next_pid 1 uint32 # a process
	flow_ids 47 fixed64 packed
	parts 3 message repeated
	times 4 int64 raw
	level 5 float optional

Other Other numbers
	uid 7 int32
`

// TestMade generates the code of a struct with each way to declare a field.
func TestMade(t *testing.T) {
	t.Parallel()
	files, err := made(declaration)
	if err != nil {
		t.Fatal(err)
	}
	words := func(path string) string { return strings.Join(strings.Fields(string(files[path])), " ") }
	for path, want := range map[string]string{
		"../field/numbers.go": "// Fields of an Outer.Inner. const ( InNextPID protowire.Number = 1 InFlowIDs protowire.Number = 47 " +
			"InParts protowire.Number = 3 InTimes protowire.Number = 4 InLevel protowire.Number = 5 ) " +
			"// Fields of an Other. const ( OtherUID protowire.Number = 7 )",
		"decoders.go":          "type In struct { NextPID uint32 FlowIDs Numbers Parts Parts Times []byte Level float32 HasLevel bool }",
		"generate/all_test.go": `"Outer.Inner": func(b []byte) any { return messages.InOf(b) }, }`,
	} {
		if !strings.Contains(words(path), want) {
			t.Errorf("%s is\n%s\nwant in it\n%s", path, words(path), want)
		}
	}
	if strings.Contains(words("decoders.go"), "OtherOf") {
		t.Error("a message of which only the numbers are wanted has a decoder")
	}
}

// TestMadeRejectsWrongDeclarations compares errors with the lines that they are about.
func TestMadeRejectsWrongDeclarations(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"\tuid 1 int32\n":                                "line 1: a field before the first message",
		"A A\n":                                          "line 1: want a message",
		"A A printer\n":                                  `"printer": want decoder or numbers`,
		"A A decoder\n\tuid 1\n":                         "line 2: want a field",
		"A A decoder\n\tuid x int32\n":                   `"x": want a number from 1`,
		"A A decoder\n\tuid 0 int32\n":                   `"0": want a number from 1`,
		"A A decoder\n\tuid 1 int\n":                     `"int": no such type`,
		"A A decoder\n\tuid 1 int32 repeated\n":          "int32 repeated: want optional",
		"A A decoder\n\tname 1 string packed\n":          "string packed: want optional",
		"A A decoder\n\tuid 1 int32\n\tpid 1 int32\n":    "line 3: pid 1: it is declared twice",
		"A A decoder\n\tuid 1 int32\n\tuid 2 int32\n":    "line 3: uid 2: it is declared twice",
		"A A decoder\n\tuid 1 int32 optional repeated\n": "line 2: want a field",
	} {
		if _, err := made(list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
	}
}

// TestGeneratedFilesAreUpToDate fails where go generate was forgotten.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Parallel()
	declared, err := os.ReadFile("../messages.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, err := made(string(declared))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		if got, err := os.ReadFile("../" + path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what messages.txt declares (%v): go generate ./trace/perfetto/messages", path, err)
		}
	}
}
