package garthtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// connection sends requests to the operations under /_test. It uses no proxy.
type connection struct {
	url    string
	client http.Client
}

// statusError is a response with another status than 200.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

func newConnection(url string) *connection {
	// A request never uses a connection that a restart of the server has closed.
	transport := &http.Transport{DisableKeepAlives: true}
	return &connection{url, http.Client{Transport: transport, Timeout: time.Minute}}
}

// send sends a request. A body that is nil is omitted. The response is decoded into a result that is not nil.
func (c *connection) send(method, path string, body, result any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, c.url+"/_test"+path, content)
	if err != nil {
		return err
	}
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		text := fmt.Sprintf("%s %s: %d %s", method, request.URL, response.StatusCode, reasons(received))
		return &statusError{response.StatusCode, text}
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(received, result)
}

// reasons returns the errors of a response as text.
func reasons(received []byte) string {
	var decoded struct {
		Errors []struct{ Field, Reason string }
	}
	if json.Unmarshal(received, &decoded) != nil || len(decoded.Errors) == 0 {
		return string(received[:min(200, len(received))])
	}
	var reasons []string
	for _, e := range decoded.Errors {
		if e.Field != "" {
			e.Reason = e.Field + ": " + e.Reason
		}
		reasons = append(reasons, e.Reason)
	}
	return strings.Join(reasons, "; ")
}
