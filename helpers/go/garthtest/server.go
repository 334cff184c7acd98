package garthtest

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"testing"
)

// A Server is a running server with test control.
type Server struct {
	// URL is the address without a path.
	URL string
	// APIURL is the address for clients; it ends with /v4.
	APIURL string
	// Token belongs to the user admin. It is empty after [Connect].
	Token string

	connection *connection
	stop       func()
}

// Connect uses a server that already runs with --test-control, such as "http://127.0.0.1:8080".
func Connect(t testing.TB, url string) *Server {
	t.Helper()
	server, err := connect(url)
	if err != nil {
		t.Fatalf("garthtest: %v", err)
	}
	return server
}

func connect(url string) (*Server, error) {
	server := &Server{URL: url, APIURL: url + "/v4", connection: newConnection(url)}
	if err := server.connection.send("GET", "/clock", nil, nil); err != nil {
		return nil, fmt.Errorf("%s is not a server with test control (garth serve --test-control): %w", url, err)
	}
	return server, nil
}

func (s *Server) send(t testing.TB, method, path string, body, result any) {
	t.Helper()
	if err := s.connection.send(method, path, body, result); err != nil {
		t.Fatalf("garthtest: %v", err)
	}
}

// A Tenant is an account that no other test sees, with an unrestricted user and a token with all scopes.
type Tenant struct {
	// Server is the server of the account.
	*Server
	AccountID int64
	Username  string
	// Token belongs to the user of this account.
	Token string
}

// Tenant creates an account.
func (s *Server) Tenant(t testing.TB) *Tenant {
	t.Helper()
	var created struct {
		AccountID int64 `json:"account_id"`
		Username  string
		Token     string
	}
	s.send(t, "POST", "/accounts", nil, &created)
	return &Tenant{s, created.AccountID, created.Username, created.Token}
}

// Reset returns to the store of a first start. It deletes all tenants.
func (s *Server) Reset(t testing.TB) {
	t.Helper()
	s.send(t, "POST", "/reset", nil, nil)
}

// A Snapshot has all rows of a server, in the memory of the server.
type Snapshot struct {
	Name   string
	server *Server
}

// Snapshot stores all rows. It replaces a snapshot with the same name. An empty name becomes a random one.
func (s *Server) Snapshot(t testing.TB, name string) *Snapshot {
	t.Helper()
	if name == "" {
		name = "snapshot-" + rand.Text()
	}
	s.send(t, "POST", "/snapshots", map[string]string{"name": name}, nil)
	return &Snapshot{name, s}
}

// Restore replaces all rows with those of a snapshot.
func (s *Server) Restore(t testing.TB, name string) {
	t.Helper()
	s.send(t, "POST", "/snapshots/"+url.PathEscape(name)+"/restore", nil, nil)
}

// Restore replaces all rows of the server. Rows and tokens that are newer than the snapshot are deleted.
func (s *Snapshot) Restore(t testing.TB) {
	t.Helper()
	s.server.Restore(t, s.Name)
}

// Delete deletes the snapshot.
func (s *Snapshot) Delete(t testing.TB) {
	t.Helper()
	s.server.send(t, "DELETE", "/snapshots/"+url.PathEscape(s.Name), nil, nil)
}

// A Request is a request that a client sent.
type Request struct {
	Method string
	Path   string
	// Status is 0 if the connection was dropped.
	Status int
	// Operation is the operationId of the API description.
	Operation string
	// AccountID is the account of the token, or 0.
	AccountID int64 `json:"account_id"`
	// Fault reports whether the server let the request fail.
	Fault bool
}

// Requests returns the recorded requests, newest last.
func (s *Server) Requests(t testing.TB) []Request {
	t.Helper()
	var list struct{ Data []Request }
	s.send(t, "GET", "/requests", nil, &list)
	return list.Data
}

// ClearRequests deletes the recorded requests.
func (s *Server) ClearRequests(t testing.TB) {
	t.Helper()
	s.send(t, "DELETE", "/requests", nil, nil)
}

// ChangeSettings changes limits until the end of the test, such as {"quota.vpcs_per_region": 3}. A value of nil
// restores that of the server.
func (s *Server) ChangeSettings(t testing.TB, settings map[string]any) {
	t.Helper()
	s.send(t, "PUT", "/settings", settings, nil)
	original := map[string]any{}
	for name := range settings {
		original[name] = nil
	}
	s.cleanup(t, "PUT", "/settings", func() any { return original })
}

// cleanup sends a request at the end of the test, unless the server has stopped.
func (s *Server) cleanup(t testing.TB, method, path string, body func() any) {
	t.Cleanup(func() {
		if err := s.connection.send(method, path, body(), nil); err != nil {
			t.Errorf("garthtest: %v", err)
		}
	})
}
