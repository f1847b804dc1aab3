package unmix

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// line returns the least-squares fit of watts on the floor and the running threads alone, whose
// columns are first; the floor's column is not constant.
func line(design *mat.Dense, watts []float64) (floor, common float64) {
	fresh := design.At(0, 0)
	n := float64(len(watts))
	sx, sy, sxx, sxy := 0.0, 0.0, 0.0, 0.0
	for i, w := range watts {
		x := design.At(i, 1)
		sx, sy, sxx, sxy = sx+x, sy+w, sxx+x*x, sxy+x*w
	}
	if spread := sxx - sx*sx/n; spread > 1e-12*sxx {
		common = (sxy - sx*sy/n) / spread
	}
	return (sy - common*sx) / n / fresh, common
}

// neighbours returns the correlation of a line's residuals between one reading and the next.
func neighbours(follows []bool, design *mat.Dense, watts []float64, floor, common float64) float64 {
	product, square, last := 0.0, 0.0, 0.0
	for i, w := range watts {
		rest := w - floor*design.At(i, 0) - common*design.At(i, 1)
		if follows[i] {
			product += rest * last
		}
		square += rest * rest
		last = rest
	}
	if square == 0 {
		return 0
	}
	return min(max(product/square, -0.7), 0.95)
}

// whiten subtracts from each row the part predicted by the one before. It returns the
// log-determinant to add to the evidence.
func whiten(follows []bool, design *mat.Dense, watts []float64, correlation float64) (evidence float64) {
	_, k := design.Dims()
	first := math.Sqrt(1 - correlation*correlation)
	for i := len(follows) - 1; i >= 0; i-- {
		if !follows[i] {
			evidence += math.Log(first)
			watts[i] *= first
			for j := range k {
				design.Set(i, j, design.At(i, j)*first)
			}
			continue
		}
		watts[i] -= correlation * watts[i-1]
		for j := range k {
			design.Set(i, j, design.At(i, j)-correlation*design.At(i-1, j))
		}
	}
	return evidence
}
