package noise

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the files of known answers")

const knownFile = "testdata/known_answers.txt"

// knownAnswers draws in lengths that end inside a register, a group and a block, and one draw alone.
func knownAnswers(t *testing.T) string {
	var text strings.Builder
	text.WriteString("# Draws from the key Seeded(seed): the first eight, and SHA-256 over all as little endian 64-bit (or 32-bit float) words.\n")
	text.WriteString("# source: written by this package's plain Go loops, GODEBUG=cpu.avx512f=off,cpu.avx2=off go test -run Known -update\n")
	for i, s := range battery {
		made, err := s.make()
		if err != nil {
			t.Fatal(err)
		}
		random := Seeded(uint64(i)).Stream()
		hash := sha256.New()
		var first []int64
		for _, length := range []int{1, 15, 17, 64, 1000, 2*blockSize + 5} {
			x := make([]int64, length)
			made.Add(x, random)
			first = append(first, x...)
			binary.Write(hash, binary.LittleEndian, x)
		}
		fmt.Fprintf(&text, "%s, seed %d: %v %x\n", s.name, i, first[:8], hash.Sum(nil))
	}
	random := Seeded(99).Stream()
	hash := sha256.New()
	for _, length := range []int{1, 31, 32, 33, 1000, 2*blockSize + 5} {
		x := make([]float32, length)
		random.Gaussian32(x)
		for _, v := range x {
			binary.Write(hash, binary.LittleEndian, math.Float32bits(v))
		}
	}
	fmt.Fprintf(&text, "float32 gaussian, seed 99: %x\n", hash.Sum(nil))
	random = Seeded(100).Stream()
	hash = sha256.New()
	var first []float64
	for _, length := range []int{1, 15, 16, 17, 1000, 2*blockSize + 5} {
		x := make([]float64, length)
		random.Gaussian(x)
		first = append(first, x...)
		binary.Write(hash, binary.LittleEndian, x)
	}
	fmt.Fprintf(&text, "float64 gaussian, seed 100: %v %x\n", first[:4], hash.Sum(nil))
	return text.String()
}

func TestKnownAnswers(t *testing.T) {
	got := knownAnswers(t)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(knownFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(knownFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		gotLines := strings.Split(got, "\n")
		for i, line := range strings.Split(string(want), "\n") {
			if i >= len(gotLines) || gotLines[i] != line {
				t.Errorf("%s line %d:\n%s\nis not what is drawn now", knownFile, i+1, line)
			}
		}
	}
}

// TestKnownAnswersOnLesserProcessors runs the test above as if this processor had fewer instructions.
func TestKnownAnswersOnLesserProcessors(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors have the plain loops only")
	}
	for _, setting := range []string{
		"GODEBUG=cpu.avx512vaes=off", "GODEBUG=cpu.avx512f=off", "GODEBUG=cpu.avx512f=off,cpu.avx2=off", "HUBBUB_CPU=avx2", "HUBBUB_CPU=generic",
	} {
		command := exec.Command(os.Args[0], "-test.run=^TestKnownAnswers$", "-test.v")
		command.Env = append(os.Environ(), setting)
		out, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestKnownAnswers ") {
			t.Errorf("%s: %v\n%s", setting, err, out)
		}
	}
}
