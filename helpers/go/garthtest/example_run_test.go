package garthtest_test

import "testing"

func TestTheExamplePasses(t *testing.T) { checkRetries(t) }
