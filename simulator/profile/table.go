package profile

type class int

const (
	good   class = iota
	low          // low-end: slower, with noisier frames
	middle       // a little of both
	fast         // a phone of the 2020s
)

type row struct {
	lab    string
	brand  string
	model  string
	sdk    string
	api    int
	abi    string
	screen string
	dpi    int
	hz     int
	class  class
}

// table contains the paper's Table 2 (D1 to D10) and similar phones that fill the two labs up
// to 20 and 5. All of them are x86, like Genymotion's images.

// Each phone of the upgraded lab except the Nexus 5X is a phone of the device lab with a newer
// Android, and the Nexus 5X shares everything but its model with others. So the contexts that
// distinguish the upgraded lab are the three versions, their three API levels and that one
// model, as in the paper (section 8.2). For this reason the Nexus 9 of Table 2 is also in the
// device lab, with an Android version that it never had, and the Nexus 5X has the density of
// the Nexus 5.
var table = []row{
	{"device-lab", "LG", "Optimus L3", "4.1.1", 16, "x86", "240x320", 120, 60, low},          // D1
	{"device-lab", "Google", "Galaxy Nexus", "4.2.2", 17, "x86", "720x1280", 320, 60, good},  // D2
	{"device-lab", "Motorola", "Moto X", "4.2.2", 17, "x86", "1080x1920", 480, 60, good},     // D3
	{"device-lab", "Samsung", "Galaxy S4", "4.3", 18, "x86", "1080x1920", 480, 60, good},     // D4
	{"device-lab", "Samsung", "Galaxy Note 3", "4.3", 18, "x86", "1080x1920", 480, 60, good}, // D5
	{"device-lab", "HTC", "Evo", "4.3", 18, "x86", "720x1280", 320, 60, middle},              // D6
	{"device-lab", "Sony", "Xperia Z", "4.3", 18, "x86", "1080x1920", 480, 60, good},         // D7
	{"device-lab", "Google", "Nexus 5", "4.4.4", 19, "x86", "1080x1920", 480, 60, good},      // D8
	{"device-lab", "Google", "Nexus 4", "4.3", 18, "x86", "768x1280", 320, 60, good},         // section 8.1
	{"device-lab", "Google", "Nexus 7", "4.3", 18, "x86", "1200x1920", 320, 60, good},        // section 8.1
	{"device-lab", "Google", "Nexus 9", "4.4.4", 19, "x86", "1536x2040", 320, 60, good},      // see above
	{"device-lab", "Samsung", "Galaxy S3", "4.1.1", 16, "x86", "720x1280", 320, 60, good},
	{"device-lab", "Samsung", "Galaxy S2", "4.1.1", 16, "x86", "480x800", 240, 60, middle},
	{"device-lab", "HTC", "One X", "4.2.2", 17, "x86", "720x1280", 320, 60, good},
	{"device-lab", "HTC", "One", "4.4.4", 19, "x86", "1080x1920", 480, 60, good},
	{"device-lab", "Sony", "Xperia S", "4.1.1", 16, "x86", "720x1280", 320, 60, good},
	{"device-lab", "Motorola", "Droid Razr", "4.2.2", 17, "x86", "540x960", 240, 60, low},
	{"device-lab", "Motorola", "Moto G", "4.4.4", 19, "x86", "720x1280", 320, 60, middle},
	{"device-lab", "LG", "G2", "4.4.4", 19, "x86", "1080x1920", 480, 60, good},
	{"device-lab", "LG", "Optimus L9", "4.2.2", 17, "x86", "540x960", 240, 60, low},
	{"upgraded-lab", "Google", "Nexus 4", "5.0.0", 21, "x86", "768x1280", 320, 60, good},  // section 8.1
	{"upgraded-lab", "Google", "Nexus 9", "5.0.0", 21, "x86", "1536x2040", 320, 60, good}, // D9
	{"upgraded-lab", "Google", "Nexus 7", "5.1.0", 22, "x86", "1200x1920", 320, 60, good}, // section 8.1
	{"upgraded-lab", "Motorola", "Moto X", "5.1.0", 22, "x86", "1080x1920", 480, 60, good},
	{"upgraded-lab", "Google", "Nexus 5X", "6.0.0", 23, "x86", "1080x1920", 480, 60, good}, // D10
	{"modern", "Google", "Pixel 3", "9", 28, "arm64-v8a", "1080x2160", 440, 60, fast},
	{"modern", "Google", "Pixel 5", "11", 30, "arm64-v8a", "1080x2340", 440, 90, fast},
	{"modern", "Samsung", "Galaxy S21", "13", 33, "arm64-v8a", "1080x2400", 420, 120, fast},
	{"modern", "Google", "Pixel 7", "14", 34, "arm64-v8a", "1080x2400", 420, 90, fast},
	{"modern", "Nokia", "C1 Go", "11", 30, "armeabi-v7a", "480x960", 240, 60, low}, // Android Go
	{"modern", "Motorola", "Moto G5", "7.0", 24, "armeabi-v7a", "1080x1920", 420, 60, middle},
	{"modern", "Google", "Pixel 2", "8.1.0", 27, "arm64-v8a", "1080x1920", 420, 60, good},
	{"modern", "OnePlus", "Nord", "10", 29, "arm64-v8a", "1080x2400", 408, 90, good},
	{"today-lab", "Google", "Pixel 6", "14", 34, "arm64-v8a", "1080x2400", 420, 90, fast},
	{"today-lab", "Google", "Pixel 7", "15", 35, "arm64-v8a", "1080x2400", 420, 90, fast},
	{"today-lab", "Google", "Pixel 8", "15", 35, "arm64-v8a", "1080x2400", 420, 120, fast},
	{"today-lab", "Google", "Pixel 6a", "13", 33, "arm64-v8a", "1080x2400", 420, 60, fast},
	{"today-lab", "Samsung", "Galaxy S22", "14", 34, "arm64-v8a", "1080x2340", 420, 120, fast},
	{"today-lab", "Samsung", "Galaxy A54", "14", 34, "arm64-v8a", "1080x2340", 400, 120, good},
	{"today-lab", "Samsung", "Galaxy A14", "13", 33, "arm64-v8a", "1080x2408", 400, 60, middle},
	{"today-lab", "Xiaomi", "Redmi Note 12", "13", 33, "arm64-v8a", "1080x2400", 400, 120, good},
	{"today-lab", "OnePlus", "9", "12", 31, "arm64-v8a", "1080x2400", 420, 120, fast},
	{"today-lab", "Motorola", "Moto G Power", "12", 31, "arm64-v8a", "720x1600", 280, 90, middle},
	{"today-lab", "Sony", "Xperia 10 IV", "13", 33, "arm64-v8a", "1080x2520", 420, 60, good},
	{"today-lab", "Xiaomi", "Redmi 10C", "12", 31, "arm64-v8a", "720x1650", 280, 60, low},
	{"today-upgraded", "Google", "Pixel 6", "16", 36, "arm64-v8a", "1080x2400", 420, 90, fast},
	{"today-upgraded", "Google", "Pixel 7", "16", 36, "arm64-v8a", "1080x2400", 420, 90, fast},
	{"today-upgraded", "Google", "Pixel 8", "16", 36, "arm64-v8a", "1080x2400", 420, 120, fast},
	{"today-upgraded", "Samsung", "Galaxy S22", "15", 35, "arm64-v8a", "1080x2340", 420, 120, fast},
	{"today-upgraded", "Samsung", "Galaxy A54", "15", 35, "arm64-v8a", "1080x2340", 400, 120, good},
	{"emulators", "Google", "sdk gphone", "11", 30, "x86", "1080x1920", 420, 60, good},
	{"emulators", "Google", "sdk gphone64 x86", "14", 34, "x86_64", "1080x2400", 420, 60, middle},
}
