package kernel

// version is a set of instructions that this processor has.
type version struct {
	name         string
	avx512, avx2 bool
}

func versions() []version {
	all := []version{{name: "generic"}}
	if hasAVX2 {
		all = append(all, version{name: "avx2", avx2: true})
	}
	if hasAVX512 {
		all = append(all, version{name: "avx512", avx512: true, avx2: true})
	}
	return all
}

// with runs f as if the processor had no more than this version needs.
func (v version) with(f func()) {
	before512, before2, beforeVAES := hasAVX512, hasAVX2, hasVAES
	defer func() { hasAVX512, hasAVX2, hasVAES = before512, before2, beforeVAES }()
	hasAVX512, hasAVX2, hasVAES = v.avx512, v.avx2, v.avx512 && hasVAES
	f()
}
