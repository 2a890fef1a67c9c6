package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A record of the binary version of CIFAR-10: the label, then 1,024 red values, row by row, then green, then blue.
const (
	cifarSide    = 32
	cifarPixels  = 3 * cifarSide * cifarSide
	cifarClasses = 10
	maxCIFAR     = 1 << 18 // records in one set; the published one has 60,000
)

// ReadCIFAR10 reads the batches of the binary version, one after the other, as one set.
func ReadCIFAR10(name string, batches ...io.Reader) (*Set, error) {
	set := &Set{Name: name, Shape: []int{3, cifarSide, cifarSide}, Classes: cifarClasses}
	var record [1 + cifarPixels]byte
	room := 0 // for the records to come, where the readers know: 0.6 GB that grows step by step would need twice as much
	for _, batch := range batches {
		if sized, ok := batch.(interface{ Len() int }); ok {
			room += sized.Len() / len(record)
		}
	}
	set.Features = make([]float32, 0, min(room, maxCIFAR)*cifarPixels)
	for b, batch := range batches {
		buffered := bufio.NewReaderSize(batch, 1<<16)
		for inBatch := 0; ; inBatch++ {
			n, err := io.ReadFull(buffered, record[:])
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("data: batch %d of %s: record %d: %w", b+1, name, inBatch, shortRead(err, n, len(record), "record"))
			}
			if record[0] >= cifarClasses {
				return nil, fmt.Errorf("data: batch %d of %s: label %d of record %d outside [0, %d]", b+1, name, record[0], inBatch, cifarClasses-1)
			}
			if set.Len() == maxCIFAR {
				return nil, fmt.Errorf("data: %s has more than %d records", name, maxCIFAR)
			}
			set.Labels = append(set.Labels, record[0])
			set.Features = appendUnit(set.Features, record[1:])
		}
	}
	if set.Len() == 0 {
		return nil, fmt.Errorf("data: %s holds no record", name)
	}
	return set, nil
}
