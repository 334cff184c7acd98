package garthtest

import (
	"errors"
	"fmt"
	"net/http"
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
	var rules struct{ Data []struct{ ID int64 } }
	s.send(t, "POST", "/faults", fault.rule(), &rules)
	// The added rule is the last one.
	path := fmt.Sprintf("/faults/%d", rules.Data[len(rules.Data)-1].ID)
	t.Cleanup(func() {
		// Faults of other tests remain. ClearFaults or Reset can have deleted this one.
		err := s.connection.send("DELETE", path, nil, nil)
		var refused *statusError
		if errors.As(err, &refused) && refused.status == http.StatusNotFound {
			return
		}
		if err != nil {
			t.Errorf("garthtest: %v", err)
		}
	})
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
