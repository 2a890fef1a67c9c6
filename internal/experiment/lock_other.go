//go:build !unix

package experiment

import "os"

// lock does nothing where the system has no such locks: nothing then keeps two processes from one folder.
func lock(*os.File) error { return nil }
