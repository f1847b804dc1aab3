package threads

// meant leads from numbers of threads or processes to those that bear them now. Numbers that
// a kernel gives are small as a rule (/proc/sys/kernel/pid_max), and are asked for with each
// event.
type meant struct {
	near []int32 // by number, 1 more than whom it means
	far  map[int32]int
}

// maxNear is above the numbers that are in a list.
const maxNear = 1 << 16

// of is whom a number means, false for nobody.
func (m *meant) of(number int32) (int, bool) {
	if uint32(number) < uint32(len(m.near)) {
		one := m.near[number]
		return int(one) - 1, one > 0
	}
	if uint32(number) < maxNear {
		return 0, false
	}
	one, known := m.far[number]
	return one, known
}

// set has a number mean somebody.
func (m *meant) set(number int32, one int) {
	if uint32(number) >= maxNear {
		if m.far == nil {
			m.far = map[int32]int{}
		}
		m.far[number] = one
		return
	}
	if int(number) >= len(m.near) {
		m.near = append(m.near, make([]int32, max(int(number)+1, min(2*len(m.near), maxNear))-len(m.near))...)
	}
	m.near[number] = int32(one) + 1
}

// drop has a number mean nobody.
func (m *meant) drop(number int32) {
	if uint32(number) < uint32(len(m.near)) {
		m.near[number] = 0
	}
	delete(m.far, number)
}
