package garthtest

import (
	"slices"
	"testing"
	"time"
)

// Always is a value of Fault.Times: all matching requests fail.
const Always = -1

// A Fault describes which requests fail, and how. Fields with zero values are not set.
type Fault struct {
	// Method, Path, Operation and AccountID select the requests. Path has no /v4, and * stands for one segment.
	// Operation is an operationId of the API description.
	Method    string
	Path      string
	Operation string
	AccountID int64

	// Times is the number of requests that fail; 0 means 1.
	Times int
	// Probability is that of a failure of each matching request; 0 means 1.
	Probability float64

	// Status is the status of the response. The request has no effect.
	Status int
	// Drop is "before" or "after": the connection is closed before or after the commit.
	Drop string
	// Delay is the time that passes before the server handles the request.
	Delay time.Duration
	// Truncate is the number of bytes of the body after which the connection is closed.
	Truncate *int
}

type faultRule struct {
	Match       faultMatch  `json:"match"`
	Times       *int        `json:"times,omitempty"`
	Probability *float64    `json:"probability,omitempty"`
	Action      faultAction `json:"action"`
}

type faultMatch struct {
	Method    string `json:"method,omitempty"`
	Path      string `json:"path,omitempty"`
	Operation string `json:"operation,omitempty"`
	Account   int64  `json:"account,omitempty"`
}

type faultAction struct {
	Status   int    `json:"status,omitempty"`
	Drop     string `json:"drop,omitempty"`
	DelayMS  int64  `json:"delay_ms,omitempty"`
	Truncate *int   `json:"truncate,omitempty"`
}

// FailNext lets the next matching requests fail, until the end of the test. Earlier faults have precedence.
func (s *Server) FailNext(t testing.TB, fault Fault) {
	t.Helper()
	rule := fault.rule()
	add := func(rules []faultRule) []faultRule { return append(rules, rule) }
	if err := s.changeFaults(add); err != nil {
		t.Fatalf("garthtest: %v", err)
	}
	t.Cleanup(func() {
		// Faults of other tests remain.
		isSame := func(other faultRule) bool { return other.Match == rule.Match }
		remove := func(rules []faultRule) []faultRule { return slices.DeleteFunc(rules, isSame) }
		if err := s.changeFaults(remove); err != nil {
			t.Errorf("garthtest: %v", err)
		}
	})
}

// changeFaults changes the rules that still apply.
func (s *Server) changeFaults(change func([]faultRule) []faultRule) error {
	s.faults.Lock()
	defer s.faults.Unlock()
	existing := struct{ Data []faultRule }{}
	if err := s.connection.send("GET", "/faults", nil, &existing); err != nil {
		return err
	}
	isUsed := func(rule faultRule) bool { return rule.Times != nil && *rule.Times == 0 }
	rules := change(slices.DeleteFunc(existing.Data, isUsed))
	return s.connection.send("PUT", "/faults", append([]faultRule{}, rules...), nil)
}

// FailNext is like [Server.FailNext], but only for requests of this account.
func (tenant *Tenant) FailNext(t testing.TB, fault Fault) {
	t.Helper()
	fault.AccountID = tenant.AccountID
	tenant.Server.FailNext(t, fault)
}

// ClearFaults deletes all faults.
func (s *Server) ClearFaults(t testing.TB) {
	t.Helper()
	s.send(t, "DELETE", "/faults", nil, nil)
}

func (fault Fault) rule() faultRule {
	rule := faultRule{
		Match:  faultMatch{fault.Method, fault.Path, fault.Operation, fault.AccountID},
		Action: faultAction{fault.Status, fault.Drop, fault.Delay.Milliseconds(), fault.Truncate},
	}
	if fault.Times != Always {
		times := max(1, fault.Times)
		rule.Times = &times
	}
	if fault.Probability != 0 {
		rule.Probability = &fault.Probability
	}
	return rule
}
