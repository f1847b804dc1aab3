package perfettoui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Server serves one trace to the page.
type Server struct {
	path    string
	address string
	open    func() (io.ReadCloser, int64, error)
	fetched chan struct{}
}

// New returns a server of the trace that open opens, which also returns its size in bytes. name is
// its name on the page: a plain file name. address is where the server will listen.
func New(address, name string, open func() (io.ReadCloser, int64, error)) *Server {
	return &Server{"/" + rand.Text() + "/" + name, address, open, make(chan struct{}, 1)}
}

// URL returns the address of the trace.
func (s *Server) URL() string { return "http://" + s.address + s.path }

// Serve answers until the page has fetched the whole trace, which is no error, or the context ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // errors of strangers' requests are ignored
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	var err error
	select {
	case err = <-ended:
		return fmt.Errorf("serve the trace on %s: %w", s.address, err)
	case <-s.fetched:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if closeErr := server.Shutdown(closing); closeErr != nil { // the page still holds a connection
		_ = server.Close()
	}
	<-ended
	return err
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", Origin)
	h.Set("Vary", "Origin")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	switch origin := r.Header.Get("Origin"); {
	case r.Host != s.address: // a DNS name rebound to this computer
		http.Error(w, "not this host", http.StatusForbidden)
	case origin != "" && origin != Origin:
		http.Error(w, "not for "+strconv.Quote(origin), http.StatusForbidden)
	case r.URL.Path != s.path:
		http.NotFound(w, r)
	case r.Method == http.MethodOptions: // may a public page ask a private address?
		h.Set("Access-Control-Allow-Methods", "GET")
		h.Set("Access-Control-Allow-Private-Network", "true")
		w.WriteHeader(http.StatusNoContent)
	case r.Method != http.MethodGet:
		http.Error(w, "GET only", http.StatusMethodNotAllowed)
	default:
		s.send(w)
	}
}

// send sends the trace, and signals when all of it is sent.
func (s *Server) send(w http.ResponseWriter) {
	file, size, err := s.open()
	if err != nil {
		http.Error(w, "the trace can't be read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	n, err := io.Copy(w, file)
	if err := errors.Join(err, file.Close()); err != nil || n != size {
		return
	}
	select {
	case s.fetched <- struct{}{}:
	default: // once is enough
	}
}
