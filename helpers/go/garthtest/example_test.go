package garthtest_test

import (
	"net/http"
	"testing"
	"time"

	"garth/garthtest"
)

// get stands for a client that repeats a request once.
func get(t *testing.T, tenant *garthtest.Tenant, path string) int {
	t.Helper()
	status := 0
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), "GET", tenant.APIURL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+tenant.Token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if status = response.StatusCode; status != http.StatusServiceUnavailable {
			break
		}
	}
	return status
}

func checkRetries(t *testing.T) {
	srv := garthtest.Start(t)
	tenant := srv.Tenant(t)
	srv.Freeze(t, time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC))
	tenant.FailNext(t, garthtest.Fault{Method: "GET", Path: "/vpcs", Status: 503})

	if status := get(t, tenant, "/vpcs"); status != 200 {
		t.Errorf("unexpected status %d", status)
	}
	requests := srv.Requests(t)
	if len(requests) != 2 || requests[0].Status != 503 || requests[1].Status != 200 {
		t.Errorf("unexpected requests: %+v", requests)
	}
}

// A test starts a server and creates an account. The client gets the URL and the token of the account.
func Example() {
	// In a file that ends with _test.go: func TestRetries(t *testing.T) { … }
	var test func(t *testing.T) = checkRetries
	_ = test
}
