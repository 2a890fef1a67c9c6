// Package pld brackets (epsilon, delta) of a composition of mechanisms through privacy loss distributions.
//
// A mechanism is given by a dominating pair (P, Q): its output with and without the protected data. The privacy loss
// is L = ln(dP/dQ) with the output drawn from P, losses add up under composition, and
//
//	delta(eps) = E[(1 - e^(eps-L))+] + P(L = infinity).
//
// The promise: for every composition the true value lies in the returned [Bracket]. Every approximation is charged
// outward. delta is convex in e^-L of each step, so by Jensen's inequality
//
//   - moving a loss randomly to the two grid points around it, with the mean of e^-L kept, can only raise delta;
//     this is the "connect the dots" discretisation of [DGK22] and gives the upper end;
//   - moving losses together to one grid point, with a mean of e^-L that does not fall, can only lower delta; this
//     gives the lower end.
//
// Both are off by the square of the grid's step, not by the step, where the loss is continuous. Sums are taken in the
// Fourier domain [KJPH21, GLW21] after an exponential tilt that puts the loss of interest into the middle of the window,
// so that the round-off of the transform, which is bounded and added, is small against delta and not only against one.
//
// [DGK22] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, Connect the Dots: Tighter Discrete Approximations of Privacy
// Loss Distributions, arXiv:2207.04380
//
// [KJPH21] Koskela, Jälkö, Prediger, Honkela, Tight Differential Privacy for Discrete-Valued Mechanisms and for the
// Subsampled Gaussian Mechanism Using FFT, arXiv:2006.07134
//
// [GLW21] Gopi, Lee, Wutschitz, Numerical Composition of Differential Privacy, arXiv:2106.02848
//
// [ZDW22] Zhu, Dong, Wang, Optimal Accounting of Differential Privacy via Characteristic Function, arXiv:2106.08567
package pld
