package powerdata

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
	"github.com/apkgate/apkgate/trace/perfetto/threads"
)

// machine is the kernel's record of one machine. Processes and threads are identified by ids on
// their own machine: a virtual machine uses the same ones.
type machine struct {
	roster *threads.Roster
	states states
	// sources are the data sources that recorded the kernel's events, in the order in which they
	// came. Two that ran concurrently both report each event.
	sources    []*kernel
	bySequence map[uint32]*kernel
}

// machine finds or adds a machine; nil if there are too many.
func (d *decoder) machine(number uint32) *machine {
	m := d.machines[number]
	if m == nil && d.Room("machines", len(d.machines), maxMachines) {
		m = &machine{
			roster: threads.NewRoster(d.File), states: states{byName: map[string]int{}}, bySequence: map[uint32]*kernel{},
		}
		d.machines[number] = m
	}
	return m
}

// source finds or adds the data source that writes a sequence of packets; nil if there are too
// many.
func (m *machine) source(d *decoder, sequence uint32) *kernel {
	k := m.bySequence[sequence]
	if k == nil && d.Room("data sources of the kernel's events", len(m.sources), maxSources) {
		k = &kernel{machine: m, ran: map[int32]*ran{}}
		m.bySequence[sequence] = k
		m.sources = append(m.sources, k)
	}
	return k
}

// most returns the data source with the largest count, nil if none has any.
func (m *machine) most(count func(*kernel) int) *kernel {
	var best *kernel
	for _, k := range m.sources {
		if count(k) > 0 && (best == nil || count(k) > count(best)) {
			best = k
		}
	}
	return best
}

func (m *machine) place(d *decoder, t *Trace, v *packets.Conversion) {
	t.States = m.states.place(v)
	for _, k := range m.sources {
		t.FtraceEvents += k.events
		t.FtraceUnread += k.unread
		t.CPULost += k.cpuLost
	}
	if k := m.most(func(k *kernel) int { return len(k.suspends) }); k != nil {
		t.Suspends = spans(placed(v, k.suspends, func(s *suspend, at time.Duration) { s.at = at }))
	}
	if k := m.most(func(k *kernel) int { return k.frequencies }); k != nil {
		for number, c := range k.cpus {
			if len(c.changes) > 0 {
				t.Frequencies = append(t.Frequencies, Frequency{number,
					placed(v, c.changes, func(f *FrequencyChange, at time.Duration) { f.Time = at })})
			}
		}
	}
	if k := m.most(func(k *kernel) int { return k.switches }); k != nil {
		m.roster.Settle(&k.tasks, func(tid int32) string { return k.ran[tid].called() })
		m.placeThreads(t, k)
	}
	m.placeProcesses(t)
}

// placeThreads sets the names and processes of the threads that ran, the busiest first.
func (m *machine) placeThreads(t *Trace, k *kernel) {
	k.dropUneven()
	for _, tid := range slices.Sorted(maps.Keys(k.ran)) {
		r := k.ran[tid]
		if r.cpu <= 0 {
			continue
		}
		thread := Thread{TID: int(tid), Name: r.comm, CPU: r.cpu}
		if listed := m.roster.Threads[tid]; listed != nil {
			thread.PID, thread.Name = int(listed.PID), cmp.Or(listed.Name, r.comm)
		}
		t.Threads = append(t.Threads, thread)
	}
	slices.SortStableFunc(t.Threads, func(a, b Thread) int { return cmp.Compare(b.CPU, a.CPU) })
}

// placeProcesses lists the processes with the time of their threads.
func (m *machine) placeProcesses(t *Trace) {
	cpu := map[int]time.Duration{}
	for _, thread := range t.Threads {
		cpu[thread.PID] = plus(cpu[thread.PID], thread.CPU)
	}
	for _, pid := range slices.Sorted(maps.Keys(m.roster.Processes)) {
		one := m.roster.Processes[pid]
		t.Processes = append(t.Processes, Process{PID: int(pid), UID: one.UID, Name: one.Name, CPU: cpu[int(pid)]})
	}
}

// doubtMachines warns of the kernel's events that are not used.
func (d *decoder) doubtMachines() {
	others := 0
	for number, m := range d.machines {
		for _, k := range m.sources {
			if number != d.Home {
				others += k.events
			}
		}
	}
	d.Warnings.Counted(0, others,
		"%d event of the kernel of another machine is ignored",
		"%d events of the kernels of other machines are ignored")
	m := d.machines[d.Home]
	if m == nil {
		return
	}
	recorded, lost := 0, 0
	for _, k := range m.sources {
		lost += k.cpuLost
		if k.switches > 0 {
			recorded++
		}
	}
	if recorded > 1 {
		d.Warnings.Addf(0, "%d data sources recorded the scheduler's events concurrently: CPU times are of the one with the most events", recorded)
	}
	d.Warnings.Counted(0, lost,
		"events of the kernel were lost in %d place: CPU times are too low",
		"events of the kernel were lost in %d places: CPU times are too low")
	if k := m.most(func(k *kernel) int { return k.switches }); k != nil && k.uneven() {
		d.Warnings.Addf(0, "the records of the CPUs begin at different times, further apart than can be corrected: CPU times are not of one interval")
	}
}
