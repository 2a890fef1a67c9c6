package fetch

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
)

// Source is a place that has the files of a data set.
type Source interface {
	// String names the place, for progress and errors.
	String() string
	// Fetch hands the content of each file, decompressed, to save, which checks and keeps it. It stops at the first
	// error. An archive may hand over the files in any order.
	Fetch(ctx context.Context, files []File, save func(File, io.Reader) error) error
}

// saveGzip saves a file that comes compressed. Both sides are bounded, because a few compressed bytes can stand for very
// many, and very many can stand for none.
func saveGzip(compressed io.Reader, file File, save func(File, io.Reader) error) error {
	// Content that does not compress grows by 5 bytes in 16 KiB at most; the header may hold a name.
	const slack = 1 << 16
	content, err := gzip.NewReader(&bounded{r: compressed, left: file.Size + file.Size/1024 + slack})
	if err != nil {
		return fmt.Errorf("%s.gz: %w", file.Name, err)
	}
	defer content.Close()
	return save(file, content)
}

// bounded fails when the reader gives more than left bytes, so that nobody can fill the disk or keep us reading.
type bounded struct {
	r    io.Reader
	left int64
	read int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	b.read += int64(n)
	b.left -= int64(n)
	if b.left < 0 {
		return 0, fmt.Errorf("more than the %d bytes allowed", b.read-1)
	}
	return n, err
}
