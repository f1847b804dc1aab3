package wording

import (
	"math"
	"strings"
	"testing"

	"github.com/apkgate/apkgate/internal/prose"
	"github.com/apkgate/apkgate/metric"
)

func TestNumbersInWords(t *testing.T) {
	for got, want := range map[string]string{
		Percent(0.0444):                            "4.4 %",
		Percent(1):                                 "100 %",
		Percent(-0.398):                            "−40 %",
		Percent(0.0004):                            "0.04 %",
		Signed(0.07):                               "+7 %",
		Signed(-0.004):                             "−0.4 %",
		Amount(-0.38, "more", "fewer"):             "38 % fewer",
		Amount(17, "higher", "lower"):              "18 times as high",
		prose.List([]string{"a", "b", "c"}):        "a, b and c",
		prose.Few([]string{"a", "b", "c", "d"}, 2): "a, b and 2 more",
		prose.Count(500_000, "run", "runs"):        "500,000 runs",
	} {
		if got := strings.ReplaceAll(got, NBSP, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestQuantitiesAreShort(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{joules(0), "0 J"}, {joules(0.66), "0.66 J"}, {joules(2.1), "2.1 J"}, {joules(12.44), "12.4 J"}, {joules(1234.4), "1234 J"},
		{joules(0.0341), "34 mJ"}, {joules(0.0034), "3.4 mJ"}, {joules(0.00034), "0.34 mJ"}, {joules(-2.1), "−2.1 J"}, {Quantity(0.5, "J", true), "+0.50 J"},
		{joules(2.5e50), "2.5e+50 J"}, {joules(0.0996), "0.10 J"}, {joules(0.996), "1.0 J"},
		{seconds(598), "9 min 58 s"}, {seconds(12.34), "12.3 s"}, {seconds(3720), "1 h 2 min"}, {seconds(3599.9), "1 h 0 min"}, {seconds(59.96), "1 min 0 s"}, {seconds(1e87), "16,666,666,666 h 40 min"},
		{finePercent(100 * 3.2 / 60_000), "0.0053 %"}, {finePercent(50), "50 %"}, {finePercent(1e-9), "under 0.000001 %"}, {finePercent(0), "0 %"},
		{ShortMethod("com.example.MessageView.decode"), "MessageView.decode"}, {ShortMethod("main"), "main"}, {ShortMethod("std::sort<int>(int*, int*)"), "std::sort<int>(int*, int*)"},
		{Method("com.example.mail.MessageView.decode", 25), "….mail.MessageView.decode"}, {Method(strings.Repeat("x", 50), 10), "xxxxxxxxx…"},
		{Method("שלום\u202e.עולם", 60), "שלום\uFFFD.עולם"},
	} {
		if got := strings.ReplaceAll(c.got, NBSP, " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Quantity(12.44, "J", false), "12.4 J"}, {Quantity(-2.1, "J", true), "−2.1 J"}, {Quantity(0.034, "J", true), "+34 mJ"}, {Quantity(0, "J", true), "0 J"},
		{Quantity(598, "s", false), "9 min 58 s"}, {Quantity(-12.34, "s", true), "−12.3 s"},
		{Quantity(16.666, "ms", false), "16.7 ms"}, {Quantity(0.6666, "ms", true), "+0.667 ms"}, {Quantity(200, "ms", false), "200 ms"}, {Quantity(1234.5, "ms", false), "1234 ms"},
		{Quantity(9.5e6, "B", true), "+9.5 MB"}, {Quantity(0.7, "ratio", false), "70 %"}, {Quantity(3.4, "ratio", true), "+340 %"}, {Quantity(11, "ratio", true), "×12"}, {Quantity(-0.4, "ratio", true), "−40 %"},
		{Quantity(0.0053, "%", false), "0.0053 %"}, {Quantity(500, "Hz", false), "500 Hz"},
		{Quantity(12_345, "", false), "12,345"}, {Quantity(-3, "", false), "−3"}, {Quantity(2.5, "", true), "+2.5"},
		{Quantity(3, "moons\x1b[31m", false), "3 moons\uFFFD[31m"}, {Quantity(math.Inf(1), "J", false), "–"},
	} {
		if got := strings.ReplaceAll(c.got, NBSP, " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestShift(t *testing.T) {
	ratio, _ := metric.Default().Lookup("frames.smooth_ratio")
	times, _ := metric.Default().Lookup("frames.duration_ms")
	anrs, _ := metric.Default().Lookup("anr.count")
	overrun, _ := metric.Default().Lookup("frames.overrun_ms")
	for _, c := range []struct{ got, want string }{
		{Shift(ratio, -0.05, -0.0526), "−5 points"},
		{Shift(times, 2, 0.25), "+25 %"},
		{Shift(times, 200, 24), "×25"},
		{Shift(anrs, 1, 0), "+1"},
		{Shift(overrun, 4, 0), "+4.00 ms"},
		{Shift(overrun, -4, 0), "−4.00 ms"},
		{Shift(overrun, 0, 0), "0.00 ms"},
		{FromTo(Shift(times, 1, 0.11), Shift(times, 2, 0.22)), "+11…+22 %"},
		{FromTo(Shift(times, 1, 0.11), Shift(times, 200, 24)), "+11 %…×25"},
	} {
		if strings.ReplaceAll(c.got, NBSP, " ") != c.want {
			t.Errorf("%q, want %q", strings.ReplaceAll(c.got, NBSP, " "), c.want)
		}
	}
}
