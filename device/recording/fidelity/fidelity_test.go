package fidelity

import "testing"

// Answers with the same lines, keys and columns are alike by shape, whatever their values.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		was, is Answer
		want    Like
	}{
		{Answer{Text: []byte("1\n")}, Answer{Text: []byte("1\n")}, Exact},
		{Answer{Text: []byte("level: 85\n  temperature: 250\n")}, Answer{Text: []byte("level: 7\r\n  temperature: -31\r\n")}, Shape},
		{Answer{Text: []byte("level: 85\n")}, Answer{Text: []byte("level: 85\nscale: 100\n")}, Unlike},
		{Answer{Text: []byte("status: charging\n")}, Answer{Text: []byte("status: full\n")}, Shape},
		{Answer{Text: []byte("Flags,Vsync,Done\n0,12,13\n")}, Answer{Text: []byte("Flags,Vsync,Done\n1,99,7\n0,1,2\n")}, Shape},
		{Answer{Text: []byte("Flags,Vsync,Done\n0,12,13\n")}, Answer{Text: []byte("Flags,Vsync,Done\n0,12,13,14\n")}, Unlike},
		{Answer{Text: []byte("[ro.product.model]: [Pixel 7]\n")}, Answer{Text: []byte("[ro.product.model]: [SM-G991B]\n")}, Shape},
		{Answer{Text: []byte("[ro.product.model]: [Pixel 7]\n")}, Answer{Text: []byte("[ro.product.name]: [Pixel 7]\n")}, Unlike},
		{Answer{Text: []byte("window@3fa2c1 true")}, Answer{Text: []byte("window@0b11ee false")}, Shape},
		{Answer{Exit: 1}, Answer{Exit: 0}, Unlike},
		{Answer{Failed: "no such file"}, Answer{Failed: "permission denied"}, Shape},
		{Answer{Failed: "no such file"}, Answer{}, Unlike},
		{Answer{Text: []byte("\n\x00trace")}, Answer{Text: []byte("\n\x00longer trace")}, Shape},
		{Answer{Text: []byte("\n\x00trace")}, Answer{Text: []byte("PERF\x00")}, Unlike},
	} {
		if got, why, _ := compare(c.was, c.is); got != c.want || (got == Unlike) != (why != "") {
			t.Errorf("%q and %q: %v (%s), want %v", c.was.Text, c.is.Text, got, why, c.want)
		}
	}
}
