//go:build !unix

package performance

import (
	"os"
	"time"
)

func processTime() time.Duration { return 0 }

func peakOf(*os.ProcessState) (peak float64, known bool) { return 0, false }
