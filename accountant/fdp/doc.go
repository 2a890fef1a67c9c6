// Package fdp computes with trade-off functions: the smallest type II error beta that any test can reach at type I error
// alpha when it guesses whether a record, or a client, took part.
//
// A mechanism is f-DP if no test beats f. G_mu is the trade-off function of two unit normals mu apart (Gaussian
// differential privacy, GDP); C_p(G_mu) that of the Gaussian mechanism on a random subset of fixed size under
// replacement of one record, a share p of all. (epsilon, delta)-DP is a trade-off function too, and every f is the
// same as a curve of (epsilon, delta).
//
// The promise: what is returned as a guarantee errs against us. Epsilon and delta are rounded up, beta and an allowed
// mu down, in the far tails too (delta down to 1e-300). Compositions go through package pld and come as brackets. The
// central limit theorem's mu is not a bound, and is offered as information only.
//
// [DRS22] Dong, Roth, Su, Gaussian Differential Privacy, arXiv:1905.02383
//
// [ZCLS22] Zheng, Chen, Long, Su, Federated f-Differential Privacy, arXiv:2102.11158
package fdp
