//go:build !amd64

package kernel

const hasVAES = false

func bestCPU() int { return generic }
