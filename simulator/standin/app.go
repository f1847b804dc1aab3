package standin

import (
	"fmt"
	"time"
)

// App returns a simulated app whose scenario ends after lasts, since the phones of a lab run
// in real time. Its package is com.example.demo, its noise is low, and it contains its own
// test, com.example.demo.ReadMailTest#readsMail. slower is a factor on the time of each frame:
// 1 is a good build.
func App(lasts time.Duration, slower float64) string {
	return fmt.Sprintf(`apkgate-simulated-app/1
package com.example.demo
version 1.4.0 140
activity .InboxActivity

cost 7ms
think 800us
startup 200ms
noise session 0.3%% repetition 0.3%% phone x0.2 frame 4%% tail 0%%x1
slow always x%g after scroll

scenario read-mail %v
  start 12
  400ms scroll 36

test com.example.demo.ReadMailTest#readsMail read-mail
`, slower, lasts)
}
