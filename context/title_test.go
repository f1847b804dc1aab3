package devctx

import "testing"

func TestTitle(t *testing.T) {
	pixel := Properties{"model": "Pixel 6", "sdk": "34", "manufacturer": "Google", "network": "wifi", "cpu": "arm64"}
	for _, c := range []struct{ got, want string }{
		{Title(pixel), "Google Pixel 6 34 wifi"}, {Name(pixel, Device), "Google Pixel 6 34"},
		{Title(Properties{"model": "Pixel 6", "sdk": ""}), "Pixel 6"}, {Title(Properties{"cpu": "arm64"}), "one context"}, {Name(nil, Named), ""},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
