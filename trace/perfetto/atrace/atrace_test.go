package atrace

import "testing"

func TestParse(t *testing.T) {
	t.Parallel()
	text := (&reading{names: map[string]string{}}).text
	for line, want := range map[string]Point{
		"B|12|Choreographer#doFrame 7|x\n": {Phase: 'B', PID: 12, Name: "Choreographer#doFrame 7|x"},
		"B|12|":                            {Phase: 'B', PID: 12, Name: "[empty slice name]"},
		"E|12":                             {Phase: 'E', PID: 12},
		"E\x00":                            {Phase: 'E'},
		"I|0|vsync":                        {Phase: 'I', Name: "vsync"},
		"S|12|launching|3":                 {Phase: 'S', PID: 12, Name: "launching", Value: 3},
		"F|12|launching|3\n":               {Phase: 'F', PID: 12, Name: "launching", Value: 3},
		"C|12|HeapSize|-17":                {Phase: 'C', PID: 12, Name: "HeapSize", Value: -17},
		"N|12|Compaction|some app":         {Phase: 'N', PID: 12, Track: "Compaction", Name: "some app"},
		"G|12|J<IME>|show|9":               {Phase: 'G', PID: 12, Track: "J<IME>", Name: "show", Value: 9},
		"H|12|J<IME>|9":                    {Phase: 'H', PID: 12, Track: "J<IME>", Value: 9},
		"H|12|J<IME>|show|9":               {Phase: 'H', PID: 12, Track: "J<IME>", Value: 9},
	} {
		if got, ok := parse([]byte(line), text); !ok || got != want {
			t.Errorf("%q: %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"", "|", "B", "B|x|name", "B|-1|name", "I|1|", "S|1|name", "S|1|name|x", "C|1||7", "C|1|a|99999999999999999999",
		"N|1|track", "G|1|track|name", "H|1|track", "Z|1|name", "trace_event_clock_sync: parent_ts=1.5"} {
		if got, ok := parse([]byte(line), text); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}
