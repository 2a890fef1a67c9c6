package own

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// array is what a .npy file holds, in C order: the last index runs fastest.
type array struct {
	file   string
	shape  []int
	bytes  bool // its elements are unsigned bytes
	values []float32
}

// element is how one number is stored.
type element struct {
	kind byte // b, i, u or f, as NumPy writes it
	size int
	swap bool // most significant byte first
}

// The format as NumPy's documentation gives it (numpy.lib.format): magic, version, length of the header, header, elements.
const npyMagic = "\x93NUMPY"

const maxNPYHeader = 1 << 16

// readNPY reads a .npy file of numbers, versions 1 to 3.
func readNPY(file string, r io.Reader) (*array, error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil || string(start[:6]) != npyMagic {
		return nil, fmt.Errorf("%s does not begin like a .npy file", file)
	}
	length := make([]byte, 4)
	if start[6] < 1 || start[6] > 3 {
		return nil, fmt.Errorf("%s: version %d of the format, want 1, 2 or 3", file, start[6])
	} else if start[6] == 1 {
		length = length[:2]
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return nil, fmt.Errorf("%s: offset 8: the file is cut short in its header", file)
	}
	var size [4]byte
	copy(size[:], length)
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxNPYHeader {
		return nil, fmt.Errorf("%s: a header of %d bytes, at most %d are read", file, n, maxNPYHeader)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, fmt.Errorf("%s: offset %d: the file is cut short in its header of %d bytes", file, 8+len(length), n)
	}
	a := &array{file: file}
	e, err := a.parseHeader(string(header))
	if err != nil {
		return nil, fmt.Errorf("%s: header: %w", file, err)
	}
	total := 1
	for _, side := range a.shape {
		if side < 1 || side > maxValues {
			return nil, fmt.Errorf("%s: shape %v: each side must be from 1 to %d", file, a.shape, maxValues)
		}
		if total *= side; total > maxValues {
			return nil, fmt.Errorf("%s: shape %v has more than the %d values that are read", file, a.shape, maxValues)
		}
	}
	a.bytes = e.kind == 'u' && e.size == 1
	if err := a.readValues(r, e, total); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// readValues takes memory as bytes come, so that a header that lies costs none.
func (a *array) readValues(r io.Reader, e element, total int) error {
	const chunk = 1 << 15
	buffer := make([]byte, chunk*e.size)
	a.values = make([]float32, 0, min(total, 1<<22))
	for len(a.values) < total {
		want := min(total-len(a.values), chunk) * e.size
		n, err := io.ReadFull(r, buffer[:want])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%d of %d values of shape %v: the file is cut short", len(a.values)+n/e.size, total, a.shape)
		}
		if err != nil {
			return err
		}
		for at := 0; at < want; at += e.size {
			a.values = append(a.values, e.decode(buffer[at:at+e.size]))
		}
	}
	if n, _ := io.ReadFull(r, buffer[:1]); n != 0 {
		return fmt.Errorf("bytes left over after the %d values of shape %v", total, a.shape)
	}
	return nil
}

func (e element) decode(b []byte) float32 {
	var bits uint64
	for i := range b {
		if e.swap {
			bits = bits<<8 | uint64(b[i])
		} else {
			bits |= uint64(b[i]) << (8 * i)
		}
	}
	switch {
	case e.kind == 'f' && e.size == 8:
		return float32(math.Float64frombits(bits))
	case e.kind == 'f':
		return math.Float32frombits(uint32(bits))
	case e.kind == 'i':
		shift := 64 - 8*e.size
		return float32(int64(bits<<shift) >> shift)
	}
	return float32(bits)
}

// parseHeader reads the Python dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
func (a *array) parseHeader(header string) (e element, err error) {
	rest := strings.TrimSpace(header)
	if !strings.HasPrefix(rest, "{") || !strings.HasSuffix(rest, "}") {
		return e, fmt.Errorf("%.60q is no dictionary", header)
	}
	rest = rest[1 : len(rest)-1]
	seen := map[string]bool{}
	fortran := false
	for strings.TrimSpace(rest) != "" {
		key, after, ok := quoted(rest)
		if !ok || seen[key] {
			return e, fmt.Errorf("want a key at %.40q", rest)
		}
		seen[key] = true
		after, ok = strings.CutPrefix(strings.TrimSpace(after), ":")
		if !ok {
			return e, fmt.Errorf("want a colon after %q", key)
		}
		switch after = strings.TrimSpace(after); key {
		case "descr":
			var descr string
			if descr, rest, ok = quoted(after); !ok {
				return e, fmt.Errorf("elements are %.40q: want plain numbers, no records", after)
			}
			if e, err = parseElement(descr); err != nil {
				return e, err
			}
		case "fortran_order":
			if rest, ok = strings.CutPrefix(after, "False"); !ok {
				if rest, fortran = strings.CutPrefix(after, "True"); !fortran {
					return e, fmt.Errorf("fortran_order is %.20q, want True or False", after)
				}
			}
		case "shape":
			var inside string
			if inside, rest, ok = strings.Cut(after, ")"); !ok || !strings.HasPrefix(inside, "(") {
				return e, fmt.Errorf("shape is %.40q, want a tuple", after)
			}
			if a.shape, err = parseShape(inside[1:]); err != nil {
				return e, err
			}
		default:
			return e, fmt.Errorf("unknown key %.40q", key)
		}
		if rest, ok = strings.CutPrefix(strings.TrimSpace(rest), ","); !ok && rest != "" {
			return e, fmt.Errorf("want a comma at %.40q", rest)
		}
	}
	switch {
	case !seen["descr"] || !seen["shape"] || !seen["fortran_order"]:
		return e, fmt.Errorf("%.80q: descr, fortran_order and shape are needed", header)
	case len(a.shape) == 0:
		return e, errors.New("shape () is a single number, want an array")
	case fortran && len(a.shape) > 1:
		return e, errors.New("the array is in Fortran order: save np.ascontiguousarray(x) instead")
	}
	return e, nil
}

// quoted takes a string in quotes off the front. Those in question need no escapes.
func quoted(s string) (inside, rest string, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", "", false
	}
	return strings.Cut(s[1:], s[:1])
}

func parseElement(descr string) (element, error) {
	bad := fmt.Errorf("elements are %.20q: want bool, or numbers of 1 to 8 bytes: save x.astype(np.float32)", descr)
	if len(descr) != 3 || !strings.ContainsRune("<>|=", rune(descr[0])) {
		return element{}, bad
	}
	e := element{kind: descr[1], size: int(descr[2] - '0'), swap: descr[0] == '>'}
	switch descr[1:] {
	case "b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8":
		return e, nil
	}
	return element{}, bad
}

func parseShape(inside string) (shape []int, err error) {
	for _, side := range strings.Split(strings.TrimSuffix(strings.TrimSpace(inside), ","), ",") {
		if side = strings.TrimSuffix(strings.TrimSpace(side), "L"); side == "" { // Python 2 wrote 10L
			continue
		}
		n, err := strconv.ParseUint(side, 10, 62)
		if err != nil {
			return nil, fmt.Errorf("shape (%.40s): %.20q is no size", inside, side)
		}
		shape = append(shape, int(n))
	}
	return shape, nil
}

// readArrays reads features and labels from two .npy files or two members of an .npz file.
func (p *part) readArrays(folder fs.FS) (x, y *array, err error) {
	if p.format == "npz" {
		_, err = readSeekable(folder, p.features, func(r io.ReaderAt, size int64) (none struct{}, err error) {
			x, y, err = readNPZ(p.features, r, size, p.arrays)
			return none, err
		})
		return x, y, err
	}
	for _, side := range []struct {
		file string
		to   **array
	}{{p.features, &x}, {p.labels, &y}} {
		*side.to, err = readFile(folder, side.file, func(r io.Reader) (*array, error) { return readNPY(side.file, r) })
		if err != nil {
			return nil, nil, err
		}
	}
	return x, y, nil
}

// readNPZ reads two arrays of an .npz file, which is a zip file of .npy files.
func readNPZ(file string, r io.ReaderAt, size int64, names [2]string) (x, y *array, err error) {
	members, err := zip.NewReader(r, size)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	var both [2]*array
	for i, name := range names {
		member, err := members.Open(name + ".npy")
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", file, err)
		}
		both[i], err = readNPY(file+": "+name, member)
		member.Close()
		if err != nil {
			return nil, nil, err
		}
	}
	return both[0], both[1], nil
}

// listNPZ names the arrays in an .npz file.
func listNPZ(folder fs.FS, file string) ([]string, error) {
	return readSeekable(folder, file, func(r io.ReaderAt, size int64) (names []string, err error) {
		members, err := zip.NewReader(r, size)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, member := range members.File {
			if name, ok := strings.CutSuffix(member.Name, ".npy"); ok {
				names = append(names, name)
			}
		}
		return names, nil
	})
}

// records puts features and labels together. Pictures with their channels last are turned to channels first, unless the user gives
// the shape.
func (a *array) records(labels *array, shapeGiven bool) (*records, error) {
	if len(labels.shape) == 2 && labels.shape[1] == 1 { // a column, as Keras has it
		labels.shape = labels.shape[:1]
	}
	if len(labels.shape) != 1 {
		return nil, fmt.Errorf("%s has shape %v, want one label for each record", labels.file, labels.shape)
	}
	n := a.shape[0]
	if labels.shape[0] != n {
		return nil, fmt.Errorf("%s has %d records but %s has %d labels", a.file, n, labels.file, labels.shape[0])
	}
	if dim := len(a.values) / n; dim > maxFeatures {
		return nil, fmt.Errorf("%s has %d values in a record, at most %d are read", a.file, dim, maxFeatures)
	}
	shape := a.shape[1:]
	switch len(shape) {
	case 0:
		shape = []int{1}
	case 2:
		shape = []int{1, shape[0], shape[1]}
	case 3:
		first, last := channels(shape[0]), channels(shape[2])
		switch {
		case shapeGiven || first && !last:
		case last && !first:
			a.channelsFirst(shape)
			shape = []int{shape[2], shape[0], shape[1]}
		default:
			return nil, fmt.Errorf("%s has records of shape %v: it cannot be told which side is the channels (1 or 3): give shape: [channels, height, width]", a.file, shape)
		}
	}
	if len(shape) > 3 {
		return nil, fmt.Errorf("%s has records of %d dimensions, at most 3 are understood: channels, height, width", a.file, len(shape))
	}
	r, err := newRecords(a.file, shape, a.values, labels.values)
	if err != nil {
		return nil, err
	}
	r.pictures = a.bytes && len(a.shape) > 2
	return r, nil
}

func channels(side int) bool { return side == 1 || side == 3 }

// channelsFirst moves the last side of each record to the front.
func (a *array) channelsFirst(shape []int) {
	plane, count := shape[0]*shape[1], shape[2]
	size := plane * count
	stored := make([]float32, size)
	for from := 0; from < len(a.values); from += size {
		record := a.values[from : from+size]
		copy(stored, record)
		for i := range plane {
			for c := range count {
				record[c*plane+i] = stored[i*count+c]
			}
		}
	}
}
