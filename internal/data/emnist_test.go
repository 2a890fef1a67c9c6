package data

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestEMNISTPicturesAreTurnedTheRightWayRound(t *testing.T) {
	// Stored as 2 rows of 3: the columns of the picture, one after the other.
	images := encodeIDX(imagesMagic, []uint32{2, 2, 3}, []byte{0, 51, 102, 153, 204, 255, 255, 0, 0, 0, 0, 51})
	labels := encodeIDX(labelsMagic, []uint32{2}, []byte{9, 0})
	set, err := ReadEMNIST("emnist-digits", 10, bytes.NewReader(images), bytes.NewReader(labels))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(set.Shape, []int{1, 3, 2}) {
		t.Errorf("shape %v, want 3 rows of 2", set.Shape)
	}
	first, _ := set.Record(0)
	second, label := set.Record(1)
	if !slices.Equal(first, []float32{0, 0.6, 0.2, 0.8, 0.4, 1}) {
		t.Errorf("first picture %v", first)
	}
	if !slices.Equal(second, []float32{1, 0, 0, 0, 0, 0.2}) || label != 0 {
		t.Errorf("second picture %v with label %d", second, label)
	}
}

func TestReadEMNISTRefusesWhatIDXRefuses(t *testing.T) {
	_, err := ReadEMNIST("emnist-digits", 9, bytes.NewReader(twoImages), bytes.NewReader(twoLabels))
	if err == nil || !strings.Contains(err.Error(), "label 9 of record 0 of emnist-digits outside [0, 8]") {
		t.Errorf("error %v", err)
	}
}

func FuzzReadEMNIST(f *testing.F) {
	f.Add(twoImages, twoLabels)
	f.Add(encodeIDX(imagesMagic, []uint32{1, 2, 2}, []byte{1, 2, 3, 4}), encodeIDX(labelsMagic, []uint32{1}, []byte{3}))
	f.Fuzz(func(t *testing.T, images, labels []byte) {
		set, err := ReadEMNIST("fuzz", 10, bytes.NewReader(images), bytes.NewReader(labels))
		plain, plainErr := ReadIDX("fuzz", 10, bytes.NewReader(images), bytes.NewReader(labels))
		if (err == nil) != (plainErr == nil) {
			t.Fatalf("error %v, of ReadIDX %v", err, plainErr)
		}
		if err != nil {
			return
		}
		rows, columns := plain.Shape[1], plain.Shape[2]
		for i := range set.Len() {
			turned, _ := set.Record(i)
			stored, _ := plain.Record(i)
			for at := range stored {
				if stored[at] != turned[at%columns*rows+at/columns] {
					t.Fatalf("record %d, value %d is not in its place", i, at)
				}
			}
		}
	})
}
