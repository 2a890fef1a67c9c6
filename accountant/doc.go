// Package accountant says what events cost.
//
// An [Event] is plain data: what a mechanism did to one release, and how often. [About] adds who is protected: the
// adjacency of data sets and the unit. From these the package computes the (epsilon, delta) that the releases
// together give, finds the noise that a target needs, and refuses the event that would exceed a budget.
//
// The promise: no epsilon printed here is smaller than the truth. Every bound is proved or published (its source
// stands beside it), overflow and lost precision make epsilon larger, rounding goes up, and where nothing is proved the
// answer is "no guarantee" (epsilon is infinite, with the reason). There is no clock, randomness or state.
//
//	[Mir17]   Mironov, Renyi differential privacy, arXiv:1702.07476
//	[MTZ19]   Mironov, Talwar, Zhang, Renyi differential privacy of the sampled Gaussian mechanism, arXiv:1908.10530
//	[WBK19]   Wang, Balle, Kasiviswanathan, Subsampled Renyi differential privacy and analytical moments accountant, arXiv:1808.00087
//	[ZW19]    Zhu, Wang, Poisson subsampled Renyi differential privacy, ICML 2019
//	[CKS20]   Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, arXiv:2004.00010
//	[DRS19]   Dong, Roth, Su, Gaussian differential privacy, arXiv:1905.02383
//	[FZ21]    Feldman, Zrnic, Individual privacy accounting via a Renyi filter, arXiv:2008.11193
package accountant
