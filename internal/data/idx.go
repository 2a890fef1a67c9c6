package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// The idx format, as described beside the original MNIST files: a magic number (two zero bytes, the element type, the
// number of dimensions), each dimension as a big-endian uint32, then the elements, last dimension fastest.
const (
	imagesMagic = 0x00000803 // unsigned bytes, 3 dimensions: records, height, width
	labelsMagic = 0x00000801 // unsigned bytes, 1 dimension: records
)

// Limits on what a header may claim. EMNIST, the largest set in this format that we know, has 814,255 records of 28 x 28.
const (
	maxSide   = 4096
	maxPixels = 1 << 30
)

// ReadIDX reads a set of grey pictures from an idx file of images and one of labels, both decompressed. A byte b becomes
// b/255. It refuses what a header does not account for: too few bytes or too many, counts that differ, labels of no class.
func ReadIDX(name string, classes int, images, labels io.Reader) (*Set, error) {
	if classes < 1 || classes > 256 {
		return nil, fmt.Errorf("data: %d classes outside [1, 256]", classes)
	}
	sides, pixels, err := readIDX(images, imagesMagic)
	if err != nil {
		return nil, fmt.Errorf("data: idx images of %s: %w", name, err)
	}
	counts, values, err := readIDX(labels, labelsMagic)
	if err != nil {
		return nil, fmt.Errorf("data: idx labels of %s: %w", name, err)
	}
	if sides[0] != counts[0] {
		return nil, fmt.Errorf("data: %s has %d images but %d labels: the two files do not belong together",
			name, sides[0], counts[0])
	}
	for i, label := range values {
		if int(label) >= classes {
			return nil, fmt.Errorf("data: label %d of record %d of %s outside [0, %d]", label, i, name, classes-1)
		}
	}
	return &Set{
		Name:     name,
		Shape:    []int{1, sides[1], sides[2]},
		Classes:  classes,
		Features: toUnit(pixels),
		Labels:   values,
	}, nil
}

// readIDX returns the dimensions and the elements of an idx file whose magic number must be the given one.
func readIDX(r io.Reader, magic uint32) (sides []int, elements []byte, err error) {
	header := make([]byte, 4+4*(magic&0xff))
	if n, err := io.ReadFull(r, header[:4]); err != nil {
		return nil, nil, shortRead(err, n, len(header), "header")
	}
	if found := binary.BigEndian.Uint32(header); found != magic {
		hint := ""
		if found>>16 == 0x1f8b {
			hint = ": this is a gzip file, decompress it first"
		}
		return nil, nil, fmt.Errorf("magic number 0x%08x, want 0x%08x%s", found, magic, hint)
	}
	if n, err := io.ReadFull(r, header[4:]); err != nil {
		return nil, nil, shortRead(err, n+4, len(header), "header")
	}
	total := uint64(1)
	for at := 4; at < len(header); at += 4 {
		side := binary.BigEndian.Uint32(header[at:])
		switch {
		case side == 0:
			return nil, nil, fmt.Errorf("dimension %d is 0: the file holds no data", len(sides)+1)
		case len(sides) > 0 && side > maxSide:
			return nil, nil, fmt.Errorf("dimension %d is %d: a picture has at most %d rows and columns",
				len(sides)+1, side, maxSide)
		}
		total *= uint64(side) // at most 2^32 * maxSide^2 = 2^56
		sides = append(sides, int(side))
	}
	if total > maxPixels {
		return nil, nil, fmt.Errorf("header claims %d elements, at most %d are read", total, maxPixels)
	}
	// ReadAll grows with the bytes that are really there, so a header that lies costs no memory.
	elements, err = io.ReadAll(io.LimitReader(r, int64(total)+1))
	if err != nil {
		return nil, nil, err
	}
	if uint64(len(elements)) > total {
		return nil, nil, fmt.Errorf("bytes left over after the %d elements that the header claims", total)
	}
	if uint64(len(elements)) < total {
		return nil, nil, shortRead(io.ErrUnexpectedEOF, len(elements), int(total), "elements")
	}
	return sides, elements, nil
}

func shortRead(err error, have, want int, what string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%d of %d bytes of %s: the file is cut short: %w", have, want, what, io.ErrUnexpectedEOF)
	}
	return err
}

// unit maps a byte to [0, 1], by a table because MNIST has 47 million of them and only 256 are different.
var unit = func() (table [256]float32) {
	for b := range table {
		table[b] = float32(b) / 255
	}
	return table
}()

func toUnit(pixels []byte) []float32 { return appendUnit(make([]float32, 0, len(pixels)), pixels) }

func appendUnit(features []float32, pixels []byte) []float32 {
	from := len(features)
	features = slices.Grow(features, len(pixels))[:from+len(pixels)]
	for i, b := range pixels {
		features[from+i] = unit[b]
	}
	return features
}
