package forward

import (
	"net"
	"sync"
	"time"
)

// silence is how long nothing passes in the step of that name.
const silence = 150 * time.Millisecond

// Forwarder listens on an address of its own and passes connections on.
type Forwarder struct {
	l  net.Listener
	wg sync.WaitGroup

	mu     sync.Mutex
	target string
	refuse bool
	links  map[*link]bool
	armed  map[string]*Cut
	closed bool
}

// Cut is a planned cut and, once Done is closed, what became of it.
type Cut struct {
	Step Step
	Done chan struct{} // closed when the connection was cut
	// ThreadID is the server's number of the connection that was cut. Valid
	// after Done.
	ThreadID uint32

	once sync.Once
}

func (c *Cut) done(thread uint32) {
	c.once.Do(func() {
		c.ThreadID = thread
		close(c.Done)
	})
}

// New starts a forwarder to target.
func New(target string) (*Forwarder, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Forwarder{l: l, target: target, links: map[*link]bool{}, armed: map[string]*Cut{}}
	f.wg.Go(f.accept)
	return f, nil
}

// Addr is where it listens.
func (f *Forwarder) Addr() string { return f.l.Addr().String() }

// SetTarget sends new connections somewhere else. Open ones stay as they are.
func (f *Forwarder) SetTarget(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = addr
}

// SetRefuse makes new connections end at once, or lets them pass again.
func (f *Forwarder) SetRefuse(refuse bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

// Arm plans a cut for the next command whose text contains mark.
func (f *Forwarder) Arm(mark string, step Step) *Cut {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &Cut{Step: step, Done: make(chan struct{})}
	f.armed[mark] = c
	return c
}

// Disarm forgets a plan that was not carried out.
func (f *Forwarder) Disarm(mark string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.armed, mark)
}

// CutAll closes all connections that are open now.
func (f *Forwarder) CutAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for l := range f.links {
		l.close()
	}
}

// Close ends the forwarder and all its connections.
func (f *Forwarder) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.l.Close()
	f.CutAll()
	f.wg.Wait()
}

func (f *Forwarder) accept() {
	for {
		client, err := f.l.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() { f.serve(client) })
	}
}

// serve passes one connection on, until one side ends.
func (f *Forwarder) serve(client net.Conn) {
	f.mu.Lock()
	target, refuse := f.target, f.refuse
	f.mu.Unlock()
	if refuse {
		client.Close()
		return
	}
	server, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil {
		client.Close()
		return
	}
	l := newLink(f, client, server)
	if !f.register(l) {
		l.close()
		return
	}
	defer f.unregister(l)
	l.run()
}

func (f *Forwarder) register(l *link) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.links[l] = true
	return true
}

func (f *Forwarder) unregister(l *link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.links, l)
}
