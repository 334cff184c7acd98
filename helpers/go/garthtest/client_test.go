package garthtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// A client sends requests with the token of a tenant. It does not repeat failed requests.
type client struct{ url, token string }

func clientOf(tenant *Tenant) client { return client{tenant.APIURL, tenant.Token} }

func (c client) send(method, path string, body, result any) (int, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, c.url+path, content)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil || result == nil {
		return response.StatusCode, err
	}
	return response.StatusCode, json.Unmarshal(received, result)
}

// status returns the status of a request.
func (c client) status(t *testing.T, method, path string) int {
	t.Helper()
	status, err := c.send(method, path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

type vpc struct {
	ID             int
	Label, Created string
}

func (c client) createVPC(label string) (created vpc, status int, err error) {
	status, err = c.send("POST", "/vpcs", map[string]string{"label": label, "region": "us-east"}, &created)
	return created, status, err
}

func (c client) mustCreateVPC(t *testing.T, label string) vpc {
	t.Helper()
	created, status, err := c.createVPC(label)
	if err != nil || status != 200 {
		t.Fatalf("a VPC was not created: %d, %v", status, err)
	}
	return created
}

// labels returns the labels of all VPCs.
func (c client) labels(t *testing.T) []string {
	t.Helper()
	var page struct{ Data []vpc }
	if status, err := c.send("GET", "/vpcs", nil, &page); err != nil || status != 200 {
		t.Fatalf("VPCs were not listed: %d, %v", status, err)
	}
	labels := []string{}
	for _, vpc := range page.Data {
		labels = append(labels, vpc.Label)
	}
	return labels
}
