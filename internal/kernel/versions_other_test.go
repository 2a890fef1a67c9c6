//go:build !amd64

package kernel

type version struct{ name string }

func versions() []version { return []version{{"generic"}} }

func (version) with(f func()) { f() }
