package main

import (
	"strings"
	"testing"
)

const made = `
// Begin of protos/a.proto
message Outer {
  // A comment; with = 1;
  optional uint32 next_pid = 1;
  reserved 2;
  enum Kind { NONE = 0; }
  enum Other {
    SOME = 9;
  }
  message Inner {
    repeated uint64 flow_ids = 47 [packed = true];
  }
  oneof what {
    Inner the_inner = 4;
  }
  optional Inner
      wrapped_field = 5;
}
// End of protos/a.proto
extend Outer {
  optional string more = 76;
}
`

func TestFieldsOfAMessageBecomeConstants(t *testing.T) {
	t.Parallel()
	messages := map[string]*message{}
	parse(messages, "merged.proto", made)
	code, err := constants(messages, "# comment\nOuter Out\nOuter.Inner In\n")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(string(code)), " ")
	want := "// Outer (protos/a.proto). const ( OutNextPID protowire.Number = 1 OutTheInner protowire.Number = 4 " +
		"OutWrappedField protowire.Number = 5 OutMore protowire.Number = 76 ) " +
		"// Outer.Inner (protos/a.proto). const ( InFlowIDs protowire.Number = 47 )"
	if !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant it to end with\n%s", got, want)
	}
}

func TestAMessageThatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"Other O", "Outer"} {
		messages := map[string]*message{}
		parse(messages, "merged.proto", made)
		if _, err := constants(messages, list); err == nil {
			t.Errorf("%q: no error", list)
		}
	}
}
