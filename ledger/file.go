package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line before it is read: a cohort of a million clients fits.
const maxLine = 16 << 20

// Line is the entry as it is kept: JSON and a line feed.
func (e Entry) Line() ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("ledger: entry %d: %w", e.Number, err)
	}
	return append(text, '\n'), nil
}

// Read takes up kept lines. It refuses whatever Line would not have written, and names the line.
//
// A last line without its line feed is a torn write: the process died while writing it, before anything that it was to
// pay for left. torn is then its length, and the caller may cut it off.
func Read(r io.Reader) (entries []Entry, torn int, err error) {
	reader := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := readLine(reader)
		if errors.Is(err, io.EOF) {
			return entries, len(line), nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("ledger: line %d: %w", number, err)
		}
		var e Entry
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			return nil, 0, fmt.Errorf("ledger: line %d is broken: %w", number, err)
		}
		// Only the exact bytes count: a second way to write an entry would be a way to change one unseen.
		if again, err := e.Line(); err != nil || !bytes.Equal(again, line) {
			return nil, 0, fmt.Errorf("ledger: line %d is not as it was written", number)
		}
		entries = append(entries, e)
	}
}

// readLine returns a line with its line feed, or what is left and io.EOF.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
