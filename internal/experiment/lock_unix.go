//go:build unix

package experiment

import (
	"os"
	"syscall"
)

// lock keeps a second process from running the same folder. The system lets go of it when the process ends, however it ends.
func lock(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
