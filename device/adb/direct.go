package adb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/apkgate/apkgate/device/adb/mux"
	"github.com/apkgate/apkgate/device/adb/wire"
)

// Dial connects directly to a device's own adb port, "host" or "host:port": an emulator, or a
// device with adb over TCP. Wireless debugging requires TLS and pairing, and needs an adb
// server.
//
// When the connection is lost, calls in progress end with device.ErrGone, and the next
// operation reconnects.
func Dial(ctx context.Context, hostport string, options Options) (*Device, error) {
	t := &directTransport{
		addr:    DevicePort(hostport),
		options: options.withDefaults(),
		lock:    make(chan struct{}, 1),
	}
	t.life, t.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if _, _, err := t.connected(ctx); err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", t.addr, err)
	}
	return &Device{serial: t.addr, transport: t, options: t.options}, nil
}

// directTransport is one connection to a device, and reconnects when it is lost.
type directTransport struct {
	addr    string
	options Options
	life    context.Context // ends when the transport is closed
	end     context.CancelCauseFunc

	lock    chan struct{} // holds a token while a goroutine uses the fields below
	session *mux.Session  // nil before the first
	banner  wire.Banner
}

func (t *directTransport) open(ctx context.Context, service string) (io.ReadWriteCloser, error) {
	session, _, err := t.connected(ctx)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, t.options.ReplyTimeout, silence(t.options.ReplyTimeout))
	defer cancel()
	stream, err := session.Open(waiting, service)
	if err != nil {
		if waiting.Err() != nil {
			err = context.Cause(waiting)
		}
		if errors.Is(err, ErrSilent) { // nothing arrives on this connection any more: the next operation reconnects
			session.Close()
		}
		return nil, asLossIfSilent(err)
	}
	return stream, nil
}

func (t *directTransport) features(ctx context.Context) ([]string, error) {
	_, banner, err := t.connected(ctx)
	return banner.Features, err
}

func (t *directTransport) watch(ctx context.Context) error {
	session, _, err := t.connected(ctx)
	if err != nil {
		return err
	}
	select {
	case <-session.Done():
		return asLoss(session.Err())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close ends calls in progress, and a connection that is being made.
func (t *directTransport) close() error {
	t.end(fmt.Errorf("using %s: %w", t.addr, net.ErrClosed))
	t.lock <- struct{}{}
	defer func() { <-t.lock }()
	if t.session == nil {
		return nil
	}
	return t.session.Close()
}

// connected returns the session and the device's banner. It connects where there is no session
// or the last one has ended.
func (t *directTransport) connected(ctx context.Context) (*mux.Session, wire.Banner, error) {
	select {
	case t.lock <- struct{}{}:
		defer func() { <-t.lock }()
	case <-ctx.Done():
		return nil, wire.Banner{}, context.Cause(ctx)
	}
	if closed := context.Cause(t.life); closed != nil {
		return nil, wire.Banner{}, closed
	}
	if t.session != nil && t.session.Err() == nil {
		return t.session, t.banner, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.life, func() { cancel(context.Cause(t.life)) })()
	session, banner, err := connect(ctx, t.addr, t.options)
	if err != nil {
		return nil, wire.Banner{}, asLoss(err)
	}
	t.session, t.banner = session, banner
	return session, banner, nil
}

func connect(ctx context.Context, addr string, options Options) (*mux.Session, wire.Banner, error) {
	dialer := net.Dialer{Timeout: options.ConnectTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, wire.Banner{}, context.Cause(ctx)
	default:
		return nil, wire.Banner{}, withHint(err, "see that the device is up and that its adb listens there: an emulator's odd port, a device after `adb tcpip 5555`")
	}
	h := newHandshake(conn, options)
	unhook := context.AfterFunc(ctx, func() { conn.Close() })
	cnxn, err := h.run()
	if !unhook() {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, wire.Banner{}, err
	}
	session := mux.New(conn, h.r, mux.Config{PeerVersion: cnxn.Arg0, PeerMaxPayload: cnxn.Arg1})
	return session, wire.ParseBanner(string(cnxn.Payload)), nil
}
