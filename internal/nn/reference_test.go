package nn

import "math"

// reference computes one example's loss in float64 straight from the definition of the layers, pixel by pixel, so that finite
// differences have digits to spare. It shares no code with the network but the order of the weights.
func reference(shape []int, layers []Layer, classes int, params []float64, record []float32, label uint8) float64 {
	height, width, channels := 1, 1, shape[0]
	if len(shape) == 3 {
		height, width = shape[1], shape[2]
	}
	x := map[[3]int]float64{} // row, column, channel; what is not there is zero
	at := func(x map[[3]int]float64, i, j, c int) float64 { return x[[3]int{i, j, c}] }
	pictures := false
	for _, l := range layers {
		pictures = pictures || l.Kind == "conv" || l.Kind == "maxpool" || l.Kind == "avgpool" || l.Kind == "groupnorm"
	}
	if !pictures {
		height, width, channels = 1, 1, len(record)
	}
	for n, v := range record {
		x[[3]int{n / width % height, n % width, n / width / height}] = float64(v)
	}
	take := func(n int) []float64 {
		taken := params[:n]
		params = params[n:]
		return taken
	}
	or := func(value, byDefault int) int {
		if value == 0 {
			return byDefault
		}
		return value
	}
	for _, l := range append(append([]Layer{}, layers...), Layer{Kind: "dense", Units: classes}) {
		y := map[[3]int]float64{}
		switch l.Kind {
		case "conv":
			size, stride := or(l.Size, 3), or(l.Stride, 1)
			weights, biases := take(size*size*channels*l.Filters), take(l.Filters)
			outHeight, outWidth, top, left := (height-size)/stride+1, (width-size)/stride+1, 0, 0
			if l.Padding == "same" {
				outHeight, outWidth = (height+stride-1)/stride, (width+stride-1)/stride
				top, left = max(0, (outHeight-1)*stride+size-height)/2, max(0, (outWidth-1)*stride+size-width)/2
			}
			flat := make([]float64, height*width*channels) // looked up so often that a map is too slow
			for at, v := range x {
				flat[(at[0]*width+at[1])*channels+at[2]] = v
			}
			for i := range outHeight {
				for j := range outWidth {
					for f := range l.Filters {
						sum := biases[f]
						for a := range size {
							for b := range size {
								row, column := i*stride+a-top, j*stride+b-left
								for c := 0; c < channels && row >= 0 && row < height && column >= 0 && column < width; c++ {
									sum += weights[((a*size+b)*channels+c)*l.Filters+f] * flat[(row*width+column)*channels+c]
								}
							}
						}
						y[[3]int{i, j, f}] = sum
					}
				}
			}
			height, width, channels = outHeight, outWidth, l.Filters
		case "maxpool", "avgpool":
			size := or(l.Size, 2)
			stride := or(l.Stride, size)
			height, width = (height-size)/stride+1, (width-size)/stride+1
			for i := range height {
				for j := range width {
					for c := range channels {
						largest, sum := math.Inf(-1), 0.0
						for a := range size {
							for b := range size {
								v := at(x, i*stride+a, j*stride+b, c)
								largest, sum = max(largest, v), sum+v
							}
						}
						if l.Kind == "avgpool" {
							largest = sum / float64(size*size)
						}
						y[[3]int{i, j, c}] = largest
					}
				}
			}
		case "groupnorm":
			scales, shifts := take(channels), take(channels)
			group := func(c int) int { return c / (channels / l.Groups) }
			sums, squares := make([]float64, l.Groups), make([]float64, l.Groups)
			members := float64(len(x) / l.Groups)
			for at, v := range x {
				sums[group(at[2])] += v / members
			}
			for at, v := range x {
				squares[group(at[2])] += (v - sums[group(at[2])]) * (v - sums[group(at[2])]) / members
			}
			for at, v := range x {
				g := group(at[2])
				y[at] = (v-sums[g])/math.Sqrt(squares[g]+1e-5)*scales[at[2]] + shifts[at[2]]
			}
		case "relu":
			for at, v := range x {
				y[at] = max(v, 0)
			}
		case "tanh":
			for at, v := range x {
				y[at] = math.Tanh(v)
			}
		case "dense", "flatten":
			vector := make([]float64, height*width*channels)
			for at, v := range x {
				vector[(at[0]*width+at[1])*channels+at[2]] = v
			}
			height, width, channels = 1, 1, len(vector)
			if l.Kind == "dense" {
				weights, biases := take(len(vector)*l.Units), take(l.Units)
				out := make([]float64, l.Units)
				for o := range out {
					out[o] = biases[o]
					for i, v := range vector {
						out[o] += v * weights[i*l.Units+o]
					}
				}
				vector, channels = out, l.Units
			}
			for c, v := range vector {
				y[[3]int{0, 0, c}] = v
			}
		}
		x = y
	}
	total := 0.0
	for _, v := range x {
		total += math.Exp(v)
	}
	return math.Log(total) - at(x, 0, 0, int(label))
}
