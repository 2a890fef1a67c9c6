// Package data holds labelled data sets in memory, reads them, deals their records out to clients and draws them.
//
// A reader hands over a [Set] only if every byte was accounted for: right header, right counts, labels in range, nothing
// left over. A partitioner gives each record to exactly one client and each client at least one record, and is a function
// of its arguments and its random source alone, so a seed fixes who holds what.
//
// Nothing here opens a file or a connection: package fetch does.
//
// [MMRHA17] McMahan, Moore, Ramage, Hampson, Agüera y Arcas, Communication-Efficient Learning of Deep Networks from
// Decentralized Data, AISTATS 2017, arXiv:1602.05629 (label shards)
//
// [YAGGHK19] Yurochkin, Agarwal, Ghosh, Greenewald, Hoang, Khazaeni, Bayesian Nonparametric Federated Learning of Neural
// Networks, ICML 2019, arXiv:1905.12022 (Dirichlet proportions per class)
package data

// Set is a labelled data set held in memory. Record i is Features[i*Dim() : (i+1)*Dim()], values in [0, 1].
type Set struct {
	Name     string
	Shape    []int // of one record: channels, height, width for pictures
	Classes  int   // labels are 0 ... Classes-1
	Features []float32
	Labels   []uint8
}

// Len is the number of records.
func (s *Set) Len() int { return len(s.Labels) }

// Dim is the number of features of one record, the product of Shape.
func (s *Set) Dim() int {
	dim := 1
	for _, side := range s.Shape {
		dim *= side
	}
	return dim
}

// Record returns the features of record i, as a view, and its label.
func (s *Set) Record(i int) ([]float32, int) {
	dim := s.Dim()
	return s.Features[i*dim : (i+1)*dim : (i+1)*dim], int(s.Labels[i])
}

// Head returns the first n records, or all if there are fewer, as a view on the same memory.
func (s *Set) Head(n int) *Set {
	n = min(max(n, 0), s.Len())
	head, end := *s, n*s.Dim()
	head.Features = s.Features[:end:end]
	head.Labels = s.Labels[:n:n]
	return &head
}

// Histogram counts the labels of the given records, for example of one client of a [Partition].
func (s *Set) Histogram(records []int) []int {
	counts := make([]int, s.Classes)
	for _, i := range records {
		counts[s.Labels[i]]++
	}
	return counts
}
