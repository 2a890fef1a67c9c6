package kernel

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// cpuVariable forces the instructions of all kernels, to compare them or to reproduce another machine's bits.
const cpuVariable = "HUBBUB_CPU"

// The sets of instructions, each including those before.
const (
	generic = iota
	avx2
	avx512
)

var cpuNames = []string{"generic", "avx2", "avx512"}

var cpuInUse, cpuError = chooseCPU(os.Getenv(cpuVariable), bestCPU())

// CPU names the instructions that the kernels use: generic, avx2 (with FMA) or avx512. The error says that the environment
// variable HUBBUB_CPU asks for something else that cannot be had.
func CPU() (name string, err error) { return cpuNames[cpuInUse], cpuError }

// chooseCPU follows the wish if it can, and otherwise takes the best.
func chooseCPU(wish string, best int) (int, error) {
	if wish == "" {
		return best, nil
	}
	wished := slices.Index(cpuNames, wish)
	switch {
	case wished < 0:
		return best, fmt.Errorf("%s is %q: set it to one of %s, or unset it", cpuVariable, wish, strings.Join(cpuNames, ", "))
	case wished > best:
		return best, fmt.Errorf("%s is %q, but this processor has no more than %s: unset it", cpuVariable, wish, cpuNames[best])
	}
	return wished, nil
}
