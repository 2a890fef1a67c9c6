package kernel

import "golang.org/x/sys/cpu"

var (
	hasAVX2   = cpuInUse >= avx2
	hasAVX512 = cpuInUse >= avx512
	hasVAES   = hasAVX512 && cpu.X86.HasAES && cpu.X86.HasAVX512VAES
)

// bestCPU asks the processor, and whether the operating system saves the registers.
func bestCPU() int {
	switch {
	case !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		return generic
	case !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512DQ || !cpu.X86.HasAVX512BW || !cpu.X86.HasAVX512VL:
		return avx2
	}
	return avx512
}
