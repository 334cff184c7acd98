package garthtest

import (
	"testing"
	"time"
)

const timeFormat = "2006-01-02T15:04:05"

// systemClock returns to the running clock of the system.
type systemClock struct {
	Now *string `json:"now"`
}

type clock struct {
	Now    string `json:"now,omitempty"`
	Frozen *bool  `json:"frozen,omitempty"`
}

// Now returns the time of the server, in UTC.
func (s *Server) Now(t testing.TB) time.Time {
	t.Helper()
	return s.clock(t, "GET", "/clock", nil)
}

// Freeze stops the clock until the end of the test, at this time or, for a zero time, at the current one. It returns
// the time.
func (s *Server) Freeze(t testing.TB, now time.Time) time.Time {
	t.Helper()
	frozen := true
	change := clock{Frozen: &frozen}
	if !now.IsZero() {
		change.Now = now.UTC().Format(timeFormat)
	}
	s.resetClockAfter(t)
	return s.clock(t, "PUT", "/clock", change)
}

// Unfreeze lets a frozen clock run on from its time.
func (s *Server) Unfreeze(t testing.TB) {
	t.Helper()
	frozen := false
	s.clock(t, "PUT", "/clock", clock{Frozen: &frozen})
}

// Advance advances the clock until the end of the test, and waits for the jobs that become due. It returns the time.
func (s *Server) Advance(t testing.TB, duration time.Duration) time.Time {
	t.Helper()
	if duration%time.Second != 0 {
		t.Fatalf("garthtest: cannot advance the clock by %v; the duration must be whole seconds", duration)
	}
	s.resetClockAfter(t)
	return s.clock(t, "POST", "/clock/advance", map[string]int64{"seconds": int64(duration / time.Second)})
}

func (s *Server) clock(t testing.TB, method, path string, body any) time.Time {
	t.Helper()
	var view clock
	s.send(t, method, path, body, &view)
	now, err := time.Parse(timeFormat, view.Now)
	if err != nil {
		t.Fatalf("garthtest: %v", err)
	}
	return now
}

// resetClockAfter sets the clock to the time of the system at the end of the test.
func (s *Server) resetClockAfter(t testing.TB) {
	s.cleanup(t, "PUT", "/clock", func() any { return systemClock{} })
}
