package saas

import (
	"context"
	"sync"

	"github.com/apkgate/apkgate/device/lab/boot"
	"github.com/apkgate/apkgate/internal/prose"
)

// watch checks whether an instance is still online, for as long as it is in use.
type watch struct {
	died chan struct{}
	stop context.CancelFunc

	mu     sync.Mutex
	reason string
}

// why returns what happened to the instance, "" if it is still online.
func (w *watch) why() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason
}

// watch starts watching the instance with the name.
func (l *Lab) watch(name string) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{died: make(chan struct{}), stop: cancel}
	l.mu.Lock()
	l.watches[name] = w
	l.mu.Unlock()
	go l.attend(ctx, name, w)
	return w
}

// unwatch ends a watch: what follows is this process's own doing.
func (l *Lab) unwatch(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.watches[name]; w != nil {
		w.stop()
		delete(l.watches, name)
	}
}

// attend polls until the instance is no longer online. An unreachable platform proves nothing
// about it.
func (l *Lab) attend(ctx context.Context, name string, w *watch) {
	for boot.Pause(ctx, l.watchEvery) == nil {
		a, err := l.list(ctx, "look after the instance "+name)
		if err != nil || ctx.Err() != nil {
			continue
		}
		if reason := endOf(a, name); reason != "" {
			w.mu.Lock()
			w.reason = reason
			w.mu.Unlock()
			close(w.died)
			return
		}
	}
}

// endOf returns why an instance can't be used any more, "" if it can.
func endOf(a answer, name string) string {
	there := a.named(name)
	if len(there) == 0 {
		return "the platform lists the instance " + name + " no more: it reached its maximum duration or was stopped"
	}
	switch i := there[0]; {
	case i.ending():
		return "the instance " + name + " is being stopped: it reached its maximum duration, or was asked to"
	case i.State == "ERROR", i.State == "SAVING", i.State == "SAVED", i.State == "OFFLINE", i.State == "MAINTENANCE":
		return "the platform says that the instance " + name + " is in the state " + prose.Clip(prose.OneLine(i.State), 40)
	}
	return ""
}
