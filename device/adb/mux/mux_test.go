package mux_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apkgate/apkgate/device/adb/mux"
	"github.com/apkgate/apkgate/device/adb/wire"
)

const limit = time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// pair returns a session whose peer serves each opened stream with accept.
func pair(t testing.TB, maxPayload uint32, accept func(service string, s *mux.Stream)) (host *mux.Session) {
	a, b := net.Pipe()
	host = mux.New(a, a, mux.Config{PeerVersion: wire.Version, PeerMaxPayload: maxPayload})
	device := mux.New(b, b, mux.Config{PeerVersion: wire.Version, PeerMaxPayload: maxPayload, Accept: accept})
	t.Cleanup(func() {
		host.Close()
		device.Close()
	})
	return host
}

// peer is a session whose other side is played by the test, message by message.
type peer struct {
	t    *testing.T
	conn net.Conn
}

func newPeer(t *testing.T, config mux.Config) (*peer, *mux.Session) {
	a, b := net.Pipe()
	config.PeerVersion, config.PeerMaxPayload = wire.Version, wire.MaxPayloadV1
	session := mux.New(a, a, config)
	b.SetDeadline(time.Now().Add(limit))
	t.Cleanup(func() {
		b.Close()
		session.Close()
	})
	return &peer{t, b}, session
}

func (p *peer) send(c wire.Command, arg0, arg1 uint32, payload string) {
	p.t.Helper()
	m := wire.Message{Command: c, Arg0: arg0, Arg1: arg1, Payload: []byte(payload)}
	if _, err := p.conn.Write(m.Append(nil, wire.SumsIgnored)); err != nil {
		p.t.Fatalf("sending %v: %v", c, err)
	}
}

// want reads the next message.
func (p *peer) want(c wire.Command, arg1 uint32, payload string) wire.Message {
	p.t.Helper()
	m, err := wire.ReadMessage(p.conn, wire.MaxPayload, wire.SumsIgnored)
	if err != nil || m.Command != c || m.Arg1 != arg1 || string(m.Payload) != payload {
		p.t.Fatalf("got %v to %d with %q, %v; want %v to %d with %q", m.Command, m.Arg1, m.Payload, err, c, arg1, payload)
	}
	return m
}

func TestEcho(t *testing.T) {
	sent := make([]byte, 1_000_003)
	rand.NewChaCha8([32]byte{1}).Read(sent)
	for _, maxPayload := range []uint32{1 << 10, wire.MaxPayload} {
		host := pair(t, maxPayload, func(service string, s *mux.Stream) {
			defer s.Close()
			io.WriteString(s, service+":")
			io.Copy(s, s)
		})
		s, err := host.Open(testContext(t), "echo")
		if err != nil {
			t.Fatal(err)
		}
		go s.Write(sent)
		got := make([]byte, len("echo:")+len(sent))
		if _, err := io.ReadFull(s, got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, append([]byte("echo:"), sent...)) {
			t.Error("what came back is not what was sent")
		}
		s.Close()
	}
}

func TestStreamEndsRightAfterItOpens(t *testing.T) {
	host := pair(t, wire.MaxPayload, func(service string, s *mux.Stream) {
		io.WriteString(s, "done")
		s.Close()
	})
	for range 200 {
		s, err := host.Open(testContext(t), "short")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(s); string(text) != "done" || err != nil {
			t.Fatalf("%q, %v", text, err)
		}
	}
}

func TestRefused(t *testing.T) {
	host := pair(t, wire.MaxPayload, func(service string, s *mux.Stream) { s.Close() })
	if _, err := host.Open(testContext(t), "none"); !errors.Is(err, mux.ErrRefused) {
		t.Errorf("%v, want ErrRefused", err)
	}
	if _, err := host.Open(testContext(t), strings.Repeat("x", wire.MaxPayload)); err == nil {
		t.Error("a service's name longer than the other side takes was sent")
	}
}

// One write is in progress until OKAY.
func TestFlowControl(t *testing.T) {
	p, session := newPeer(t, mux.Config{})
	opened := make(chan *mux.Stream)
	go func() {
		s, _ := session.Open(testContext(t), "x")
		opened <- s
	}()
	id := p.want(wire.OPEN, 0, "x\x00").Arg0
	p.send(wire.OKAY, 7, id, "")
	s := <-opened

	wrote := make(chan error)
	go func() {
		for _, text := range []string{"one", "two"} {
			if _, err := io.WriteString(s, text); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- nil
	}()
	p.want(wire.WRTE, 7, "one")
	// If "two" were sent without OKAY, it would arrive before the answer to this.
	p.send(wire.OKAY, 9, 12345, "")
	p.want(wire.CLSE, 9, "")
	p.send(wire.OKAY, 7, id, "")
	p.want(wire.WRTE, 7, "two")
	if err := <-wrote; err != nil {
		t.Error(err)
	}

	// Data is acknowledged only once it has been read.
	p.send(wire.WRTE, 7, id, "hello")
	p.send(wire.OKAY, 9, 12345, "")
	p.want(wire.CLSE, 9, "")
	read := make([]byte, 5)
	go io.ReadFull(s, read)
	p.want(wire.OKAY, 7, "")
	if string(read) != "hello" {
		t.Errorf("%q, want hello", read)
	}
}

func TestDataBeforeTheEnd(t *testing.T) {
	p, session := newPeer(t, mux.Config{})
	go func() {
		id := p.want(wire.OPEN, 0, "x\x00").Arg0
		p.send(wire.OKAY, 7, id, "")
		p.send(wire.WRTE, 7, id, "last words")
		p.send(wire.CLSE, 7, id, "")
	}()
	s, err := session.Open(testContext(t), "x")
	if err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if text, err := io.ReadAll(s); string(text) != "last words" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("a closed stream took data")
	}
}

// A stream that is cancelled before it is accepted is closed on the other side too.
func TestOpenCancelled(t *testing.T) {
	p, session := newPeer(t, mux.Config{})
	ctx, cancel := context.WithCancel(testContext(t))
	gaveUp := make(chan error)
	go func() {
		_, err := session.Open(ctx, "x")
		gaveUp <- err
	}()
	id := p.want(wire.OPEN, 0, "x\x00").Arg0
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	p.send(wire.OKAY, 7, id, "")
	p.want(wire.CLSE, 7, "")
}

func TestBrokenProtocolEndsTheSession(t *testing.T) {
	for name, send := range map[string]func(p *peer, id uint32){
		"data before it was asked for": func(p *peer, id uint32) {
			p.send(wire.WRTE, 7, id, "a")
			p.send(wire.WRTE, 7, id, "b")
		},
		"an unknown command": func(p *peer, id uint32) { p.send(0x41414141, 0, 0, "") },
		"a second CNXN":      func(p *peer, id uint32) { p.send(wire.CNXN, wire.Version, 4096, "device::") },
		"OPEN from 0":        func(p *peer, id uint32) { p.send(wire.OPEN, 0, 0, "x\x00") },
	} {
		t.Run(name, func(t *testing.T) {
			p, session := newPeer(t, mux.Config{})
			go func() {
				id := p.want(wire.OPEN, 0, "x\x00").Arg0
				p.send(wire.OKAY, 7, id, "")
				send(p, id)
			}()
			s, err := session.Open(testContext(t), "x")
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-session.Done():
			case <-time.After(limit):
				t.Fatal("the session has not ended")
			}
			if !errors.Is(session.Err(), wire.ErrMalformed) {
				t.Errorf("%v, want ErrMalformed", session.Err())
			}
			if _, err := s.Write([]byte("x")); !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("the stream: %v, want why the session ended", err)
			}
			if _, err := session.Open(testContext(t), "x"); !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("the next stream: %v, want why the session ended", err)
			}
		})
	}
}

// A message for another stream's id is ignored, as in adb.cpp: it may be a late one for a
// stream that had the id before.
func TestMessagesOfAnotherStreamAreIgnored(t *testing.T) {
	p, session := newPeer(t, mux.Config{})
	opened := make(chan *mux.Stream)
	go func() {
		s, err := session.Open(testContext(t), "x")
		if err != nil {
			t.Error(err)
		}
		opened <- s
	}()
	id := p.want(wire.OPEN, 0, "x\x00").Arg0
	p.send(wire.CLSE, 8, id, "")
	p.send(wire.OKAY, 0, id, "")
	p.send(wire.OKAY, 7, id, "")
	s := <-opened
	if s == nil {
		return
	}
	p.send(wire.OKAY, 8, id, "")
	p.send(wire.WRTE, 8, id, "stray")
	p.send(wire.CLSE, 8, id, "")
	p.send(wire.WRTE, 7, id, "ours")
	got := make([]byte, 10)
	if n, err := s.Read(got); err != nil || string(got[:n]) != "ours" {
		t.Errorf("%q, %v", got[:n], err)
	}
	p.want(wire.OKAY, 7, "")
	p.send(wire.CLSE, 0, id, "") // as older devices close
	if _, err := s.Read(got); err != io.EOF {
		t.Errorf("%v, want the end", err)
	}
}

// A peer that sends requests without reading the answers does not fill this side's memory.
func TestUnreadAnswersAreLimited(t *testing.T) {
	for name, m := range map[string]wire.Message{
		"OKAY to no stream": {Command: wire.OKAY, Arg0: 9, Arg1: 12345},
		"OPEN":              {Command: wire.OPEN, Arg0: 9, Payload: []byte("x\x00")},
	} {
		t.Run(name, func(t *testing.T) {
			p, session := newPeer(t, mux.Config{})
			block := bytes.Repeat(m.Append(nil, wire.SumsIgnored), 1000)
			for range 50 {
				if _, err := p.conn.Write(block); err != nil {
					break
				}
			}
			select {
			case <-session.Done():
			default:
				t.Fatal("50,000 messages were taken, none of whose answers was read")
			}
			if !errors.Is(session.Err(), wire.ErrMalformed) {
				t.Errorf("%v, want ErrMalformed", session.Err())
			}
		})
	}
}

// A peer that stops reading does not keep a stream from being closed.
func TestCloseWhileThePeerHangs(t *testing.T) {
	p, session := newPeer(t, mux.Config{})
	opened := make(chan *mux.Stream)
	go func() {
		s, _ := session.Open(testContext(t), "x")
		opened <- s
	}()
	id := p.want(wire.OPEN, 0, "x\x00").Arg0
	p.send(wire.OKAY, 7, id, "")
	s := <-opened
	ended := make(chan error)
	go func() {
		_, err := s.Write(make([]byte, 1<<20)) // never read
		ended <- err
	}()
	s.Close()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("an unread write succeeded")
		}
	case <-time.After(limit):
		t.Error("the write has not ended")
	}
}

func BenchmarkThroughput(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		mux.New(conn, conn, mux.Config{
			PeerVersion: wire.Version, PeerMaxPayload: wire.MaxPayload,
			Accept: func(_ string, s *mux.Stream) { io.Copy(io.Discard, s) },
		})
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	session := mux.New(conn, conn, mux.Config{PeerVersion: wire.Version, PeerMaxPayload: wire.MaxPayload})
	defer session.Close()
	s, err := session.Open(testContext(b), "sink")
	if err != nil {
		b.Fatal(err)
	}
	piece := make([]byte, wire.MaxSyncData)
	b.SetBytes(int64(len(piece)))
	for b.Loop() {
		if _, err := s.Write(piece); err != nil {
			b.Fatal(err)
		}
	}
}
