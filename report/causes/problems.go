package causes

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/gate"
	"github.com/apkgate/apkgate/report/document"
	"github.com/apkgate/apkgate/report/wording"
)

// Problems returns the causes of what got worse whose subject is code that can be changed, each
// once, as in the most important run. The rule of each is the metric that it explains.
func (s Story) Problems() []document.Problem {
	var out []document.Problem
	seen := map[string]bool{}
	for _, section := range s.Sections {
		for _, e := range section.Runs {
			for _, c := range e.Causes {
				mark := fingerprint(c)
				if !diagnose.KindOf(c.Kind).Alert || c.Direction != gate.ToRegression || seen[mark] {
					continue
				}
				seen[mark] = true
				out = append(out, document.Problem{
					Scenario: c.Scenario, Rule: c.Metric, Explains: true, Title: wording.Name(c.Scenario) + ": " + text(c.Title), Text: s.sentence(c), Fingerprint: mark,
				})
			}
		}
	}
	return out
}

// fingerprint identifies a cause across runs: the same subject in the same scenario has the same
// one.
func fingerprint(c diagnose.Cause) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{diagnose.KindOf(c.Kind).InFingerprint(), c.Scenario, c.Subject.Name, c.Subject.File}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
