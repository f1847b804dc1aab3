package farm

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Rate is what a device costs.
type Rate struct {
	Device     Device
	Physical   bool
	USDPerHour float64
	// Flat says that a plan is paid for, and not the hour.
	Flat bool
}

// Bill is what matrices cost.
type Bill struct {
	Matrices int
	Minutes  int // of devices
	USD      float64
	// Most says that some minutes were not told, and are the most that they can have been.
	Most bool
	// Flat says that a plan is paid for, and not the minutes.
	Flat bool
	// Untold counts matrices of which nothing is known, not even whether they were begun:
	// they are none of Matrices, and have cost no more than so much.
	Untold        int
	UntoldMinutes int
	UntoldUSD     float64
}

// AtMost is what so many matrices can cost that run on each of the devices.
func AtMost(rates []Rate, matrices int, within time.Duration) Bill {
	b := Bill{Matrices: matrices, Most: true}
	for _, r := range rates {
		b.pay(r, matrices*Minutes(within))
	}
	return b
}

// Minutes are those that are paid for a test that took so long: each that has begun, as
// firebase.google.com/docs/test-lab/usage-quotas-pricing has it.
func Minutes(took time.Duration) int { return int((took + time.Minute - 1) / time.Minute) }

// Add adds a matrix's outcomes.
func (b *Bill) Add(rates []Rate, outcomes []Outcome) {
	b.Matrices++
	for i, o := range outcomes {
		b.pay(rates[i], o.Minutes)
		b.Most = b.Most || !o.Told
	}
}

// AddUntold adds a matrix that was ended before the farm told its number.
func (b *Bill) AddUntold(rates []Rate, within time.Duration) {
	most := AtMost(rates, 1, within)
	b.Untold++
	b.Flat = b.Flat || most.Flat
	b.UntoldMinutes += most.Minutes
	b.UntoldUSD += most.USD
}

// And is a bill with the most that another can come to, as Limit looks at it.
func (b Bill) And(more Bill) Bill {
	b.Minutes += b.UntoldMinutes + more.Minutes
	b.USD += b.UntoldUSD + more.USD
	b.Untold, b.UntoldMinutes, b.UntoldUSD = 0, 0, 0 // they are counted
	return b
}

func (b *Bill) pay(r Rate, minutes int) {
	b.Minutes += minutes
	b.Flat = b.Flat || r.Flat
	b.USD += float64(minutes) / 60 * r.USDPerHour
}

// Text is the bill in a line, with the farm's noun for an order: "28 matrices, at most 280
// minutes of devices, 23.33 USD"; without a sum where a plan is paid for.
func (b Bill) Text(one, many string) string {
	most := ""
	if b.Most {
		most = "at most "
	}
	text := fmt.Sprintf("%s, %s%s of devices%s", prose.Count(b.Matrices, one, many), most, prose.Count(b.Minutes, "minute", "minutes"), b.sum(b.USD))
	if b.Untold > 0 {
		text += fmt.Sprintf("; unknown of %s, ended before the farm had told a number: at most %s%s",
			prose.Count(b.Untold, "more "+one, "more "+many), prose.Count(b.UntoldMinutes, "minute", "minutes"), b.sum(b.UntoldUSD))
	}
	return text
}

// sum is a sum of money after something else, "" where a plan is paid for.
func (b Bill) sum(usd float64) string {
	if b.Flat {
		return ""
	}
	return fmt.Sprintf(", %.2f USD", usd)
}

// Limit is the most that may be spent: dollars, or minutes of devices where a plan is paid
// for.
type Limit struct {
	USD     float64
	Minutes int    // 0 where dollars count
	Key     string // of the configuration, for messages
}

// Over says by what a bill is beyond the limit, "" where it is not.
func (l Limit) Over(b Bill) string {
	switch {
	case l.Minutes > 0 && b.Minutes > l.Minutes:
		return fmt.Sprintf("it could take %d minutes of devices, and %s allows %d", b.Minutes, l.Key, l.Minutes)
	case l.Minutes == 0 && b.USD > l.USD:
		return fmt.Sprintf("it could cost %.2f USD, and %s allows %.2f", b.USD, l.Key, l.USD)
	}
	return ""
}
