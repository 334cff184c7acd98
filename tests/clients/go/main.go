// linodego, unchanged, against a running server:
//
//	clients ROOT TOKEN RESTRICTED_TOKEN NAME
//
// ROOT is the server's address, TOKEN belongs to an unrestricted user, RESTRICTED_TOKEN to the restricted
// user frank of the same account, and NAME is one of the tests below.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/linode/linodego"
)

var tests = map[string]func(*session){
	"VPCs":                      vpcs,
	"subnets":                   subnets,
	"addresses in VPCs":         vpcAddresses,
	"instances":                 instances,
	"disks":                     disks,
	"configs":                   configs,
	"interfaces":                interfaces,
	"events and waiting":        eventsAndWaiting,
	"addresses of instances":    addresses,
	"tags":                      tags,
	"tickets":                   tickets,
	"profile and SSH keys":      profileAndKeys,
	"tokens and OAuth clients":  tokensAndClients,
	"users and grants":          usersAndGrants,
	"account and settings":      accountAndSettings,
	"regions, types and images": catalog,
	"empty collections":         emptyCollections,
	"refusals and errors":       refusalsAndErrors,
}

const (
	region = "us-east"
	plan   = "g6-nanode-1"
	image  = "linode/debian12"
)

// A session has a client of each user, and the body of the last response.
type session struct {
	context.Context
	*linodego.Client
	root       string
	restricted *linodego.Client
	body       []byte
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: clients ROOT TOKEN RESTRICTED_TOKEN NAME")
		os.Exit(2)
	}
	test, found := tests[os.Args[4]]
	if !found {
		fmt.Fprintf(os.Stderr, "there is no test %q\n", os.Args[4])
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	s := &session{Context: ctx, root: os.Args[1]}
	s.Client = s.client(os.Args[1], os.Args[2])
	s.restricted = s.client(os.Args[1], os.Args[3])
	test(s)
}

func (s *session) client(root, token string) *linodego.Client {
	client := linodego.NewClient(nil)
	client.SetBaseURL(root).SetToken(token).SetPollDelay(20 * time.Millisecond)
	client.OnAfterResponse(func(response *linodego.Response) error {
		s.body = response.Body()
		return nil
	})
	return &client
}

// fail ends the test. A panic shows the line of the test.
func fail(format string, values ...any) {
	panic(fmt.Sprintf(format, values...))
}

func must[T any](value T, err error) T {
	if err != nil {
		fail("%v", err)
	}
	return value
}

func done(err error) {
	must(0, err)
}

func expect(holds bool, format string, values ...any) {
	if !holds {
		fail(format, values...)
	}
}

func equal[T comparable](actual, expected T) {
	expect(actual == expected, "%v, not %v", actual, expected)
}

// equalJSON compares values by their JSON.
func equalJSON(actual, expected any) {
	equal(string(must(json.Marshal(actual))), string(must(json.Marshal(expected))))
}

// refused checks the status of an error response, and that its first error has this field or code.
func (s *session) refused(err error, status int, word string) {
	expect(linodego.ErrHasStatus(err, status), "expected status %d: %v", status, err)
	var body struct {
		Errors []struct{ Reason, Field, Code string }
	}
	done(json.Unmarshal(s.body, &body))
	expect(len(body.Errors) > 0, "no errors in %s", s.body)
	first := body.Errors[0]
	expect(word == first.Field || word == first.Code, "%q is not in %s", word, s.body)
	expect(strings.Contains(err.Error(), first.Reason), "linodego does not show the reason: %v", err)
}

// notFound checks that a request was answered with 404.
func notFound(err error) {
	expect(linodego.IsNotFound(err), "expected 404: %v", err)
	var shown *linodego.Error
	expect(errors.As(err, &shown) && strings.Contains(shown.Message, "Not found"), "%v", err)
}

// filter converts a filter to the options of a list.
func filter(value map[string]any) *linodego.ListOptions {
	return linodego.NewListOptions(0, string(must(json.Marshal(value))))
}

func only[T any](items []T, err error) T {
	equal(len(must(items, err)), 1)
	return items[0]
}

// names applies a function to each item and joins the results.
func names[T any](items []T, name func(T) string) string {
	var all []string
	for _, item := range items {
		all = append(all, name(item))
	}
	return strings.Join(all, " ")
}
