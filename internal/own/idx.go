package own

import (
	"io"
	"io/fs"

	"hubbub/internal/data"
)

// readIDX reads pictures in the format of MNIST.
func (p *part) readIDX(folder fs.FS) (*records, error) {
	return readFile(folder, p.features, func(images io.Reader) (*records, error) {
		return readFile(folder, p.labels, func(labels io.Reader) (*records, error) {
			set, err := data.ReadIDX(p.features, maxClasses, images, labels)
			if err != nil {
				return nil, err
			}
			return &records{file: p.features, shape: set.Shape, unit: true, features: set.Features, labels: set.Labels}, nil
		})
	})
}
