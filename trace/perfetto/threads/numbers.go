package threads

// meant maps ids of threads or processes to their current owners. Ids from a kernel are usually
// small (/proc/sys/kernel/pid_max), and are looked up for each event.
type meant struct {
	near []int32 // by id, 1 more than the owner
	far  map[int32]int
}

// maxNear is above the ids that are in the list.
const maxNear = 1 << 16

// of returns the owner of an id, false if there is none.
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

// set sets the owner of an id.
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

// drop removes the owner of an id.
func (m *meant) drop(number int32) {
	if uint32(number) < uint32(len(m.near)) {
		m.near[number] = 0
	}
	delete(m.far, number)
}
