package judging

import (
	"io"

	"github.com/apkgate/apkgate/internal/cli/output"
	"github.com/apkgate/apkgate/report/layout"
)

// ComparisonData is a comparison for other programs.
func ComparisonData(in layout.ABInput) output.SheetData {
	return output.SheetData{
		JSON:  func(w io.Writer) error { return layout.ABJSON(w, in) },
		SARIF: func(w io.Writer, places layout.Places) error { return layout.ABSARIF(w, in, places) },
	}
}
