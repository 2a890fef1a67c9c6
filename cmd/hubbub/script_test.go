package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hubbub/internal/fetch"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hubbub": main})
}

// The scripts run the whole program as a user does. They share the real data set, fetched once.
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("whole commands on real data run in make test")
	}
	dir, err := fetch.Dir()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fetch.Get(context.Background(), "mnist", dir, nil); err != nil {
		t.Fatal(err)
	}
	vectors, err := filepath.Abs("../../internal/own/testdata") // files that other tools wrote
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HUBBUB_DATA", dir)
			e.Setenv("VECTORS", vectors)
			return nil
		},
		Condition: func(condition string) (bool, error) { // [fetched:NAME]: a data set that is too large to be got for a test
			name, ok := strings.CutPrefix(condition, "fetched:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			set, err := fetch.Find(name)
			return err == nil && set.Fetched(dir), err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "waitlines": waitLines},
	})
}

// exits CODE PROGRAM ARGS... runs a program that must end with exactly this code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var failed *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// waitlines FILE N waits until a file has so many lines, for a minute at the most.
func waitLines(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	for range 600 {
		text, _ := os.ReadFile(ts.MkAbs(args[0]))
		if bytes.Count(text, []byte("\n")) >= want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("%s has not grown to %d lines in a minute", args[0], want)
}
