package pool

import (
	"sync"

	"github.com/mcp-exec/mcp-exec/internal/forkserver"
)

// tenants are the slots, and further fork servers, that were made from each fork
// server. One that was replaced ends when the last of them is gone, so that no run
// ends because of it.
type tenants struct {
	mu      sync.Mutex // protects what follows
	count   map[*forkserver.Process]int
	retired map[*forkserver.Process]bool
	ending  sync.WaitGroup
}

func newTenants() *tenants {
	return &tenants{count: map[*forkserver.Process]int{}, retired: map[*forkserver.Process]bool{}}
}

func (t *tenants) enter(server *forkserver.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[server]++
}

func (t *tenants) leave(server *forkserver.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count[server]--
	t.endUnused(server)
}

func (t *tenants) retire(server *forkserver.Process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.retired[server] = true
	t.endUnused(server)
}

// endUnused needs mu.
func (t *tenants) endUnused(server *forkserver.Process) {
	if t.count[server] > 0 || !t.retired[server] {
		return
	}
	delete(t.count, server)
	delete(t.retired, server)
	t.ending.Go(func() {
		server.Close() // it may take as long as its children need to end
		if server.Parent != nil {
			t.leave(server.Parent)
		}
	})
}
