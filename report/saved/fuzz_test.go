package saved_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/report/saved"
)

// FuzzReadVerdict: a verdict that can be read has valid numbers and outcomes, so that it can be
// written; anything else is an error of one line.
func FuzzReadVerdict(f *testing.F) {
	f.Add([]byte(`{"format":"apkgate.verdict/1","verdict":"regression","runs":[{"id":"T6","verdict":"regression","labels":["E2Outlier-"],` +
		`"reference":[{"id":"T1","similarity":1.7,"weight":0.4,"cluster":1}],"deviations":[{"event":"E2","metric":"frames.count","direction":"regression","value":270,"q1":390,"q3":454,"lower":294,"upper":550,"n":6}]}],` +
		`"rules":[{"if":{"sdk":"5.0.0"},"then":"Outlier-","support":0.04,"confidence":1,"lift":9}],"warnings":[]}`))
	f.Add([]byte(`{"format":"apkgate.verdict/1","verdict":"pass","runs":[]}`))
	f.Add([]byte(`{"format":"apkgate.verdict/1","verdict":"fine"}`))
	f.Add([]byte(strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := saved.ReadVerdict(bytes.NewReader(data))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("what was read can't be written: %v", err)
		}
	})
}
