// Package waterfill lets the randomness of gradient sampling do part of the hiding, and adds noise only where it is missing.
//
// A client mixes its D per-example gradients at random, each by w = 1/D + ξ/√(BD), ξ normal. That gives its update the
// covariance Σ = GGᵀ/(BD) of its gradients; water-filling adds noise in those directions where Σ has less than σ², so that
// every eigenvalue is at least σ². Secure aggregation adds the updates of N clients up, and only the sum is seen.
//
// Promise: for all data sets of one client that differ in one record, the sum is what the event says, as long as at least
// the stated number of clients follow the protocol and do not collude. The event is the corrected one: the paper's table and
// its proof of Theorem 4 are wrong, the theorem's formula is right with a corrected range of orders. Splitting the
// covariance into blocks to save time, "without affecting the bound" in the paper, leaves no guarantee at all
// ([PlainBlocks] shows it); blocks here draw a mix of their own each, so that the covariance truly is block by block.
//
// It takes a matrix of gradients and knows no model. The three methods of the paper's section 5.3, and a fourth of its
// Table 1, go by name.
//
// Paper 000: Zhang, Psounis, Differentially private federated learning without noise addition: when is it possible?,
// arXiv:2405.04551.
package waterfill
