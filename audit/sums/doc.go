// Package sums measures what a sum of clients' updates tells of one of them, when secure aggregation hides the updates and
// nothing else is added.
//
// The other clients' updates are all the noise there is. In theory ([Setting]) their law is known, and the curve of
// (epsilon, delta) is bracketed by privacy loss distributions, beside that of a Gaussian with the same covariance. In practice
// ([Moments], [Attacker]) mean and covariance are estimated from sampled updates, the two updates that are easiest to tell
// apart are searched for, and a likelihood ratio test tells from a sum which of them went in.
//
// The promise: what theory prints is a bracket of the truth for the stated law. What an attack prints is measured: package
// audit turns its errors into a lower bound on epsilon. A direction in which nobody else varies is refused, never divided by:
// there is no guarantee in it.
//
// Paper 001: Ngo, Östman, Durisi, Graell i Amat, Secure aggregation is not private against membership inference attacks,
// arXiv:2403.17775.
package sums
