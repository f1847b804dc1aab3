package causes

import (
	"strconv"
	"strings"

	"github.com/apkgate/apkgate/diagnose"
	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/report/wording"
)

// mostText limits the characters of one phrase.
const mostText = 1_200

// text returns a phrase as plain text for one line. Words are treated as hostile like names: a
// saved report may come from anybody.
func text(p diagnose.Phrase) string {
	var b strings.Builder
	for _, part := range p {
		b.WriteString(prose.Clip(part.Text, mostText))
		b.WriteString(named(part, 0))
		if a := part.Amount; a != nil {
			b.WriteString(wording.Quantity(a.Value, a.Unit, a.Signed))
		}
		if r := part.Range; r != nil {
			b.WriteString(wording.FromTo(wording.Quantity(r.Low, r.Unit, r.Signed), wording.Quantity(r.High, r.Unit, r.Signed)))
		}
	}
	return prose.Clip(wording.Visible(b.String()), mostText)
}

// named returns the name of a part, in at most so many characters; 0 is the part's own limit.
func named(p diagnose.Part, most int) string {
	if most == 0 {
		most = p.Most
	}
	if most == 0 || most > wording.MaxName {
		most = wording.MaxName
	}
	switch p.As {
	case diagnose.Code:
		return wording.Method(p.Name, most)
	case diagnose.Short:
		return wording.Method(wording.ShortMethod(p.Name), most)
	}
	return prose.Clip(wording.Visible(p.Name), most)
}

func texts(phrases []diagnose.Phrase) []string {
	out := make([]string, len(phrases))
	for i, p := range phrases {
		out[i] = text(p)
	}
	return out
}

// id names the figures of a section's run within a page.
func id(section, run int) string {
	if section == 0 {
		return "e" + strconv.Itoa(run)
	}
	return "c" + strconv.Itoa(section) + "e" + strconv.Itoa(run)
}
