package crew

import (
	"sync/atomic"
	"time"
)

// patience is how long one looks before one sleeps: about what a wake-up takes, so that waiting costs at most twice what the better of
// the two would have.
const patience = 50 * time.Microsecond

// helper is how Do speaks to one of its goroutines.
type helper struct {
	state atomic.Int32
	wake  chan struct{} // holds one token, sent by who takes the helper out of sleeping
	_     [112]byte     // others do not write to the cache lines that this one looks at
}

// The states of a helper. Do takes it from idle or sleeping to called, and back to idle if it has not begun; the helper itself does
// the rest.
const (
	idle = iota // and looking for a call, or about to
	sleeping
	called
	working
	dismissed
)

// call asks for work, of a helper that does none.
func (h *helper) call() { h.tell(called) }

// dismiss ends the helper.
func (h *helper) dismiss() { h.tell(dismissed) }

func (h *helper) tell(state int32) {
	if h.state.Swap(state) == sleeping {
		h.wake <- struct{}{}
	}
}

// excuse takes a call back and says true, unless the helper has begun: nobody waits for one that wakes when all is done.
func (h *helper) excuse() bool { return h.state.CompareAndSwap(called, idle) }

// called waits for a call, and is false when the helper is dismissed.
func (h *helper) called(spin *atomic.Bool) bool {
	for {
		spinUntil(spin.Load(), func() bool { return h.state.Load() != idle })
		if h.state.CompareAndSwap(idle, sleeping) {
			<-h.wake
		}
		// An excused helper finds itself idle again.
		if h.state.CompareAndSwap(called, working) {
			return true
		}
		if h.state.Load() == dismissed {
			return false
		}
	}
}

// spinUntil looks whether something is so until it is or patience ends, and says which. Without spin it looks once.
func spinUntil(spin bool, so func() bool) bool {
	if !spin {
		return so()
	}
	const looks = 64 // between readings of the clock, each of which takes longer than some looks
	for start := time.Now(); time.Since(start) < patience; {
		for range looks {
			if so() {
				return true
			}
		}
	}
	return false
}
