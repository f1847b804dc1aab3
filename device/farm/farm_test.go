package farm_test

import (
	"math"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/farm"
)

// The examples on Google's page on prices: 22 s are billed as one minute, 75 s as two.
func TestMinutes(t *testing.T) {
	for took, want := range map[time.Duration]int{0: 0, 22 * time.Second: 1, 75 * time.Second: 2, time.Minute: 1, time.Minute + 1: 2} {
		if got := farm.Minutes(took); got != want {
			t.Errorf("%v: %d minutes, want %d", took, got, want)
		}
	}
}

// 28 matrices of 10 minutes on a phone at 5 USD an hour and one at 1: 280 min each, 23.33 and
// 4.67 USD. One that used 2 and 3 minutes: 10/60 and 3/60 USD.
func TestBill(t *testing.T) {
	rates := []farm.Rate{{USDPerHour: 5}, {USDPerHour: 1}}
	most := farm.AtMost(rates, 28, 10*time.Minute)
	if got := most.Text("matrix", "matrices"); got != "28 matrices, at most 560 minutes of devices, 28.00 USD" {
		t.Error(got)
	}
	var used farm.Bill
	used.Add(rates, []farm.Outcome{{Minutes: 2, Known: true}, {Minutes: 3, Known: true}})
	if got := used.Text("matrix", "matrices"); got != "1 matrix, 5 minutes of devices, 0.22 USD" || math.Abs(used.USD-13.0/60) > 1e-12 {
		t.Error(got, used.USD)
	}
	used.Add(rates, []farm.Outcome{{Minutes: 1, Known: true}, {Minutes: 10}})
	if got := used.Text("matrix", "matrices"); got != "2 matrices, at most 16 minutes of devices, 0.47 USD" {
		t.Error(got)
	}
	used.AddUnknown(rates, 10*time.Minute)
	if got := used.Text("matrix", "matrices"); got != "2 matrices, at most 16 minutes of devices, 0.47 USD; unknown for 1 more matrix, which ended before the farm reported a number: at most 20 minutes, 1.00 USD" {
		t.Error(got)
	}
}

// Dollars are limited if minutes are billed, and minutes with a plan.
func TestLimit(t *testing.T) {
	paid := farm.AtMost([]farm.Rate{{USDPerHour: 5}}, 12, 10*time.Minute)
	plan := farm.AtMost([]farm.Rate{{Flat: true}, {Flat: true}}, 6, 10*time.Minute)
	if got := plan.Text("build", "builds"); got != "6 builds, at most 120 minutes of devices" {
		t.Error(got)
	}
	for _, c := range []struct {
		limit farm.Limit
		bill  farm.Bill
		want  string
	}{
		{farm.Limit{USD: 10, Key: "k"}, paid, ""},
		{farm.Limit{USD: 9.99, Key: "k"}, paid, "it could cost 10.00 USD, and k allows 9.99"},
		{farm.Limit{Minutes: 120, Key: "k"}, plan, ""},
		{farm.Limit{Minutes: 119, Key: "k"}, plan, "it could take 120 minutes of devices, and k allows 119"},
	} {
		if got := c.limit.Over(c.bill); got != c.want {
			t.Errorf("%+v: %q, want %q", c.limit, got, c.want)
		}
	}
}
