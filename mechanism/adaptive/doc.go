// Package adaptive gives every weight its own interval and noise in proportion to it.
//
// It holds two mechanisms. [Printed] is the paper's: a client cuts each trained weight to an interval around the global
// one and adds noise as wide as the interval. The interval comes from the client's own gradients, so the noise tells of
// the data that it should hide: there is NO guarantee, its event is unsound, and two attacks in the tests show it.
// [Released] repairs it: intervals are a function of models that were released already, so they tell nothing new. It
// promises that, for all data sets of one client, its contribution is a Gaussian mechanism with the noise level σ0 as its
// noise multiplier, whatever the models were.
//
// [Budget] is the paper's Algorithm 4, asked before a contribution and not, as printed, after it.
//
// Paper 003: Xue, Xue, Zhu, Luo, Zhang, Sun, Lu, Differentially private federated learning with an adaptive noise
// mechanism, Algorithms 2 to 4 and Table II.
package adaptive
