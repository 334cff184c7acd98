package garthtest

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	oldestVersion = "0.2.0"
	startTimeout  = 60 * time.Second
)

// supervisor runs the server until standard input ends: when the server is stopped, or when the process of the tests
// ends for any reason, even a SIGKILL. The store is temporary, so the server does not have to shut down in an orderly
// way.
const supervisor = `
trap '' INT HUP
folder=$1
shift
"$@" </dev/null &
server=$!
exec >/dev/null 2>&1
read -r _
kill -KILL $server
wait $server
rm -rf -- "$folder"
`

var address = regexp.MustCompile(`http://[^ \n]+`)

// An Option changes how a server is started.
type Option func(*settings)

type settings struct {
	binary    string
	arguments []string
}

// Binary sets the path of the binary. Otherwise it is that of the environment variable GARTH_BINARY, or garth on the
// PATH.
func Binary(path string) Option {
	return func(settings *settings) { settings.binary = path }
}

// Arguments adds arguments of `garth serve`, such as "--chaos=light".
func Arguments(arguments ...string) Option {
	return func(settings *settings) { settings.arguments = append(settings.arguments, arguments...) }
}

// Start starts a server with an empty temporary store on a free port of 127.0.0.1. It ends with the test. Environment
// variables that begin with GARTH_ do not change the settings of the server.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	server, err := start(options...)
	if err != nil {
		t.Fatalf("garthtest: %v", err)
	}
	t.Cleanup(server.stop)
	return server
}

var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Shared returns the server of this process, which the first call starts. It ends with the process. Tests that run in
// parallel can use it with a [Tenant] each. The other methods of [Server] affect all of them.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = start()
	}
	if shared.err != nil {
		t.Fatalf("garthtest: %v", shared.err)
	}
	return shared.server
}

func start(options ...Option) (*Server, error) {
	var chosen settings
	for _, option := range options {
		option(&chosen)
	}
	program, err := findBinary(chosen.binary)
	if err != nil {
		return nil, err
	}
	random := make([]byte, 32)
	rand.Read(random)
	token := hex.EncodeToString(random)
	folder, err := os.MkdirTemp("", "garth-test-")
	if err != nil {
		return nil, err
	}
	server, err := run(program, folder, token, chosen.arguments)
	if err != nil {
		os.RemoveAll(folder)
	}
	return server, err
}

// run starts the supervisor with the server, and waits for the address of the server.
func run(program, folder, token string, arguments []string) (*Server, error) {
	logPath := filepath.Join(folder, "log")
	log, err := os.Create(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	serve := []string{program, "serve", "--test-control", "--listen", "127.0.0.1:0", "--log", "warn"}
	serve = append(serve, "--data", filepath.Join(folder, "data"))
	command := exec.Command("/bin/sh", "-c", supervisor, "garth-supervisor", folder)
	command.Args = append(append(command.Args, serve...), arguments...)
	command.Env = append(environment(), "GARTH_BOOTSTRAP_TOKEN="+token)
	command.Stderr = log
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	stop := sync.OnceFunc(func() {
		input.Close()
		command.Wait()
	})
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(output).ReadString('\n')
		lines <- line
	}()
	var server *Server
	select {
	case line := <-lines:
		server, err = connectTo(line, program, logPath)
	case <-time.After(startTimeout):
		err = fmt.Errorf("%s did not start within %v: %s", program, startTimeout, endOf(logPath))
	}
	if err != nil {
		stop()
		return nil, err
	}
	server.Token, server.stop = token, stop
	return server, nil
}

// environment returns the environment of this process without the settings of Garth.
func environment() []string {
	var others []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GARTH_") {
			others = append(others, variable)
		}
	}
	return others
}

// findBinary returns the path of the binary. The error names the places that were searched.
func findBinary(chosen string) (string, error) {
	if chosen == "" {
		chosen = os.Getenv("GARTH_BINARY")
	}
	if chosen == "" {
		found, err := exec.LookPath("garth")
		if err != nil {
			return "", errors.New("garth is not on the PATH; install it, or set GARTH_BINARY to its path")
		}
		return filepath.Abs(found)
	}
	found, err := exec.LookPath(chosen)
	if err != nil {
		return "", fmt.Errorf("there is no program %s; set GARTH_BINARY to the path of garth", chosen)
	}
	return filepath.Abs(found)
}

// connectTo returns the server at the address in the first line that it printed.
func connectTo(line, program, logPath string) (*Server, error) {
	text := endOf(logPath)
	switch url := address.FindString(line); {
	case url != "":
		return connect(url)
	case line != "":
		return nil, fmt.Errorf("%s is not Garth %s or later; it printed %q", program, oldestVersion, line)
	case strings.Contains(text, "unexpected argument '--test-control'"):
		return nil, fmt.Errorf("%s has no option --test-control; install Garth %s or later", program, oldestVersion)
	case text == "":
		return nil, fmt.Errorf("%s did not start: it printed nothing", program)
	default:
		return nil, fmt.Errorf("%s did not start: %s", program, text)
	}
}

// endOf returns the last part of a log.
func endOf(logPath string) string {
	const maxBytes = 2000
	content, _ := os.ReadFile(logPath)
	return strings.TrimSpace(string(content[max(0, len(content)-maxBytes):]))
}
