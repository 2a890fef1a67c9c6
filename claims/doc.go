// Package claims lists what five papers on private federated learning claim, whether it is true, what we compute instead, and where.
//
// Each claim that is false, or that is printed wrong, comes with a counterexample that runs on the spot: it computes the number that the
// paper claims and the one that is found, with the mechanisms and accountants of this project where they exist.
//
// The promise: [Claim.Run] returns an error when the evidence does not support the verdict, so that a verdict cannot outlive its proof.
// Everything random is drawn from fixed seeds; statistical evidence states its sample.
//
//	[000] Zhang, Psounis, Differentially private federated learning without noise addition: when is it possible?, arXiv:2405.04551
//	[001] Ngo, Östman, Durisi, Graell i Amat, Secure aggregation is not private against membership inference attacks, arXiv:2403.17775
//	[002] Distributed Skellam mechanism: a novel approach to federated learning with differential privacy (anonymous, under review)
//	[003] Xue, Xue, Zhu, Luo, Zhang, Sun, Lu, Differentially private federated learning with an adaptive noise mechanism
//	[004] Zheng, Chen, Long, Su, Federated f-differential privacy, arXiv:2102.11158
package claims
