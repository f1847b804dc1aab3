package storetest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy is between a store and its server. It forwards both directions, until it is told to fail as
// networks do.
type Proxy struct {
	dial func() (net.Conn, error)

	mu      sync.Mutex
	changed *sync.Cond
	silent  bool
	slow    bool
	cut     int // a connection ends after that many bytes; 0: none does
	cuts    int // how many connections end so
	open    map[net.Conn]bool
}

// NewProxy forwards connections to the listener to where dial leads.
func NewProxy(t testing.TB, listener net.Listener, dial func() (net.Conn, error)) *Proxy {
	p := &Proxy{dial: dial, open: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.mu)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := p.dial()
			if err != nil {
				client.Close()
				continue
			}
			go p.between(client, server)
		}
	}()
	t.Cleanup(func() { listener.Close(); p.Heal(); p.end() })
	return p
}

// Silence keeps every connection open, and forwards nothing.
func (p *Proxy) Silence() { p.set(func() { p.silent = true }) }

// Slow forwards 512 bytes at a time, 200 times a second at most.
func (p *Proxy) Slow() { p.set(func() { p.slow = true }) }

// Cut ends that many connections after so many bytes, in the middle of a message.
func (p *Proxy) Cut(after, connections int) {
	p.set(func() { p.cut, p.cuts = after, connections })
	p.end()
}

// Heal forwards everything again.
func (p *Proxy) Heal() { p.set(func() { p.silent, p.slow, p.cut = false, false, 0 }) }

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

// end ends every connection.
func (p *Proxy) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.open {
		conn.Close()
	}
	clear(p.open)
}

func (p *Proxy) between(client, server net.Conn) {
	p.mu.Lock()
	left := 0 // bytes until it ends, where that is set
	if p.cut > 0 && p.cuts > 0 {
		p.cuts--
		left = p.cut
	}
	p.open[client], p.open[server] = true, true
	p.mu.Unlock()
	go p.pass(server, client, 0)
	go p.pass(client, server, left)
}

// chunk is how much a slow line forwards at a time.
const chunk = 512

func (p *Proxy) pass(to, from net.Conn, left int) {
	defer to.Close()
	defer from.Close()
	cut := left > 0
	buffer := make([]byte, 32<<10)
	for {
		p.mu.Lock()
		room := buffer
		if p.slow {
			room = buffer[:chunk]
		}
		p.mu.Unlock()
		n, err := from.Read(room)
		p.mu.Lock()
		for p.silent {
			p.changed.Wait()
		}
		slow := p.slow
		p.mu.Unlock()
		if slow {
			time.Sleep(5 * time.Millisecond) // the delay of a slow line
		}
		if cut {
			n = min(n, left)
			left -= n
		}
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil || cut && left == 0 {
			return
		}
	}
}
