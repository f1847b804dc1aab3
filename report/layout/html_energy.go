package layout

import (
	_ "embed" // for the template of energy
	"fmt"

	"github.com/apkgate/apkgate/report/figure"
	"github.com/apkgate/apkgate/report/words"
)

//go:embed energy.tmpl
var energyTemplate string

// pageEnergy is the section on energy. Strings are plain and escaped by the
// template.
type pageEnergy struct {
	Open bool // something changed
	Runs []pageEnergyRun
	Rest string
}

type pageEnergyRun struct {
	Title, Fact, Sensor string
	Lines, Doubts       []string
	Bars, Flame         *pagePicture
	Tables              []sheetHTMLTable
}

// How many rows of parts and wakelocks stand in the page.
const pageParts = 30

func newPageEnergy(s energyStory) pageEnergy {
	p := pageEnergy{Open: s.Open}
	for i, r := range s.Runs[:min(len(s.Runs), pageEnergies)] {
		p.Runs = append(p.Runs, r.page(fmt.Sprintf("e%d", i)))
	}
	p.Rest = more(len(s.Runs), len(p.Runs), "more run has joules", "more runs have joules")
	return p
}

func (r energyRun) page(id string) pageEnergyRun {
	p := pageEnergyRun{Title: r.Title, Fact: r.fact(), Lines: r.Lines, Doubts: r.Doubts}
	if r.UpdateMS > 0 {
		p.Sensor = "The sensor has a new reading every " + words.Digits(r.UpdateMS, 1) + words.Unit("ms") + "."
	}
	if fig, ok := barsOf(r.Methods); ok {
		detail := "Whiskers are the intervals."
		if r.Methods.HasBase() {
			detail = "The upper bar is the build before, the lower one this build; whiskers are the intervals."
		}
		picture := both("The methods' own code", detail, id+"b", fig.Draw)
		p.Bars = &picture
	}
	if fig, ok := flameOf(r.Methods); ok {
		picture := both("Where the energy goes, by call", fig.Note(figure.Wide), id+"f", fig.Draw)
		p.Flame = &picture
	}
	for _, t := range []sheetTable{r.methodsTable(pageMethods, wideName), r.partsTable(pageParts), r.locksTable(pageParts)} {
		if len(t.rows) > 0 {
			t.folded = len(t.rows) > 10
			p.Tables = append(p.Tables, t.html())
		}
	}
	return p
}
