package garthtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// failing records the message of Fatalf instead of ending the test.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, arguments ...any) {
	f.message = fmt.Sprintf(format, arguments...)
	runtime.Goexit()
}

// fatalMessage returns the message with which a function ends its test.
func fatalMessage(t *testing.T, function func(testing.TB)) string {
	t.Helper()
	recorder := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		function(recorder)
	}()
	<-done
	if recorder.message == "" {
		t.Fatal("the function did not end the test")
	}
	return recorder.message
}

func fakeBinary(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "garth")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFailedStartHasAClearError(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, test := range []struct {
		options  []Option
		expected string
	}{
		{[]Option{Binary("/nonexistent/garth")}, "there is no program /nonexistent/garth; set GARTH_BINARY to the path of garth"},
		{[]Option{Binary(fakeBinary(t, `echo "error: unexpected argument '--test-control' found" >&2; exit 2`))},
			"has no option --test-control; install Garth 0.2.0 or later"},
		{[]Option{Arguments("--bogus")}, "unexpected argument '--bogus' found"},
		{[]Option{Binary(fakeBinary(t, "echo hello"))}, `is not Garth 0.2.0 or later; it printed "hello\n"`},
		{[]Option{Binary(fakeBinary(t, "exit 1"))}, "did not start: it printed nothing"},
		{[]Option{Arguments("--chaos=unknown")}, "did not start: garth: chaos: must be light, heavy or a seed"},
	} {
		message := fatalMessage(t, func(t testing.TB) { Start(t, test.options...) })
		if !strings.Contains(message, test.expected) {
			t.Errorf("%q does not contain %q", message, test.expected)
		}
	}
	if left := temporaryStores(t); len(left) > 0 {
		t.Errorf("temporary stores remain: %v", left)
	}
}

func TestABinaryThatIsNotOnThePathIsReported(t *testing.T) {
	t.Setenv("GARTH_BINARY", "")
	t.Setenv("PATH", "/nonexistent")
	message := fatalMessage(t, func(t testing.TB) { Start(t) })
	equal(t, message, "garthtest: garth is not on the PATH; install it, or set GARTH_BINARY to its path")
}

func TestSettingsOfTheEnvironmentDoNotAffectTheServer(t *testing.T) {
	t.Setenv("GARTH_CHAOS", "unknown")
	Start(t)
}

func TestConnectUsesARunningServer(t *testing.T) {
	srv := Start(t)
	clientOf(Connect(t, srv.URL).Tenant(t)).mustCreateVPC(t, "core")
	message := fatalMessage(t, func(t testing.TB) { Connect(t, "http://127.0.0.1:9") })
	if !strings.Contains(message, "http://127.0.0.1:9 is not a server with test control") {
		t.Fatal(message)
	}
}

func TestTheServerEndsWithItsTest(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var srv *Server
	t.Run("server", func(t *testing.T) { srv = Start(t) })
	if _, err := connect(srv.URL); err == nil {
		t.Fatal("the server still runs")
	}
	if left := temporaryStores(t); len(left) > 0 {
		t.Fatalf("temporary stores remain: %v", left)
	}
}

// TestWaitForever is run by the next test in another process.
func TestWaitForever(t *testing.T) {
	if os.Getenv("TEST_OF_KILLED_PROCESS") == "" {
		t.Skip("only TestTheServerEndsWithTheProcess runs it, in another process")
	}
	fmt.Printf("server %s\n", Shared(t).URL)
	time.Sleep(time.Minute)
}

func TestTheServerEndsWithTheProcess(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	command := exec.Command(os.Args[0], "-test.run=^TestWaitForever$", "-test.v")
	command.Env = append(os.Environ(), "TEST_OF_KILLED_PROCESS=yes")
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	url := ""
	for lines := bufio.NewScanner(output); url == "" && lines.Scan(); {
		_, url, _ = strings.Cut(lines.Text(), "server ")
	}
	Connect(t, url)
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	command.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, err := connect(url)
		if left := temporaryStores(t); err != nil && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server still runs, or its store remains: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func temporaryStores(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "garth-test-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
