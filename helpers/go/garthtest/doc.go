// Package garthtest tests clients of the Linode API v4 against Garth.
//
// [Start] runs a server for one test, and [Shared] one for all tests of a package. [Server.Tenant] creates an account
// for a test. Other methods set the time, let requests fail, restore rows and list the requests that a client sent.
//
// All functions end the test if they fail. Changes to the clock, the faults and the settings end with the test that
// made them.
package garthtest
