package farm

import (
	"fmt"
	"time"

	"github.com/apkgate/apkgate/internal/prose"
)

// Rate is the price of a device.
type Rate struct {
	Device     Device
	Physical   bool
	USDPerHour float64
	// Flat reports that a plan is billed, not the hour.
	Flat bool
}

// Bill is the cost of matrices.
type Bill struct {
	Matrices int
	Minutes  int // of device time
	USD      float64
	// Most reports that some minutes were not reported, and were estimated by their maximum.
	Most bool
	// Flat reports that a plan is billed, not the minutes.
	Flat bool
	// Unknown counts matrices that may or may not have begun: they are not in Matrices, and
	// cost at most UnknownMinutes and UnknownUSD.
	Unknown        int
	UnknownMinutes int
	UnknownUSD     float64
}

// AtMost returns the maximum cost of the number of matrices, each on all of the devices.
func AtMost(rates []Rate, matrices int, within time.Duration) Bill {
	b := Bill{Matrices: matrices, Most: true}
	for _, r := range rates {
		b.pay(r, matrices*Minutes(within))
	}
	return b
}

// Minutes returns the billed minutes of a test: each minute that has begun, see
// firebase.google.com/docs/test-lab/usage-quotas-pricing.
func Minutes(took time.Duration) int { return int((took + time.Minute - 1) / time.Minute) }

// Add adds the outcomes of a matrix.
func (b *Bill) Add(rates []Rate, outcomes []Outcome) {
	b.Matrices++
	for i, o := range outcomes {
		b.pay(rates[i], o.Minutes)
		b.Most = b.Most || !o.Known
	}
}

// AddUnknown adds a matrix that ended before the farm reported its number.
func (b *Bill) AddUnknown(rates []Rate, within time.Duration) {
	most := AtMost(rates, 1, within)
	b.Unknown++
	b.Flat = b.Flat || most.Flat
	b.UnknownMinutes += most.Minutes
	b.UnknownUSD += most.USD
}

// Plus returns the bill plus the maximum of another, as input to Limit.
func (b Bill) Plus(more Bill) Bill {
	b.Minutes += b.UnknownMinutes + more.Minutes
	b.USD += b.UnknownUSD + more.USD
	b.Unknown, b.UnknownMinutes, b.UnknownUSD = 0, 0, 0 // now included
	return b
}

func (b *Bill) pay(r Rate, minutes int) {
	b.Minutes += minutes
	b.Flat = b.Flat || r.Flat
	b.USD += float64(minutes) / 60 * r.USDPerHour
}

// Text formats the bill as a line, with the farm's noun for an order: "28 matrices, at most
// 280 minutes of devices, 23.33 USD". A plan has no sum.
func (b Bill) Text(one, many string) string {
	most := ""
	if b.Most {
		most = "at most "
	}
	text := fmt.Sprintf("%s, %s%s of devices%s", prose.Count(b.Matrices, one, many), most, prose.Count(b.Minutes, "minute", "minutes"), b.sum(b.USD))
	if b.Unknown > 0 {
		text += fmt.Sprintf("; unknown for %s, which ended before the farm reported a number: at most %s%s",
			prose.Count(b.Unknown, "more "+one, "more "+many), prose.Count(b.UnknownMinutes, "minute", "minutes"), b.sum(b.UnknownUSD))
	}
	return text
}

// sum formats an amount after other text, "" for a plan.
func (b Bill) sum(usd float64) string {
	if b.Flat {
		return ""
	}
	return fmt.Sprintf(", %.2f USD", usd)
}

// Limit is the maximum that may be spent: dollars, or minutes of device time with a plan.
type Limit struct {
	USD     float64
	Minutes int    // 0 where dollars are limited
	Key     string // in the configuration, for messages
}

// Over describes by how much a bill exceeds the limit, "" if it does not.
func (l Limit) Over(b Bill) string {
	switch {
	case l.Minutes > 0 && b.Minutes > l.Minutes:
		return fmt.Sprintf("it could take %d minutes of devices, and %s allows %d", b.Minutes, l.Key, l.Minutes)
	case l.Minutes == 0 && b.USD > l.USD:
		return fmt.Sprintf("it could cost %.2f USD, and %s allows %.2f", b.USD, l.Key, l.USD)
	}
	return ""
}
