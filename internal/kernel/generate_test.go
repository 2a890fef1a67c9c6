package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestAssemblyIsWhatItsGeneratorWrites(t *testing.T) {
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly found: %v", err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			checkedIn, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			generator := "generate_" + strings.TrimSuffix(file, "_amd64.s") + ".go"
			generated, err := exec.Command("go", "run", generator).Output()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(checkedIn, generated) {
				t.Errorf("%s is not what %s writes: run go generate ./internal/kernel", file, generator)
			}
		})
	}
}
