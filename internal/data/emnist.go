package data

import "io"

// ReadEMNIST is [ReadIDX] for the files of EMNIST, which store each picture with rows and columns exchanged: the result has
// them the right way round, as MNIST has.
func ReadEMNIST(name string, classes int, images, labels io.Reader) (*Set, error) {
	set, err := ReadIDX(name, classes, images, labels)
	if err != nil {
		return nil, err
	}
	rows, columns := set.Shape[1], set.Shape[2]
	set.Shape = []int{1, columns, rows}
	stored := make([]float32, rows*columns)
	for i := range set.Len() {
		picture, _ := set.Record(i)
		copy(stored, picture)
		for r := range rows {
			for c := range columns {
				picture[c*rows+r] = stored[r*columns+c]
			}
		}
	}
	return set, nil
}
