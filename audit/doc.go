// Package audit turns the mistakes of an attack into a lower bound on epsilon.
//
// An attack sees the output of a mechanism and guesses which of two neighbouring inputs went in. If the mechanism is (epsilon,
// delta)-private, no attack has few false positives and few false negatives at once. So mistakes that were counted are evidence:
// with the stated confidence, no smaller epsilon holds. A lower bound above a claim contradicts the claim; one below it proves
// nothing, since a better attack may exist.
//
// The promise: for all mechanisms, attacks and pairs of inputs that were fixed before the counted trials were made, the bound
// exceeds the true epsilon with a probability of at most one minus the confidence. Rates are bounded by Clopper and Pearson's
// intervals, which hold for every sample size, and numbers are rounded down. [Audit] keeps to the rule that thresholds are chosen
// on other trials than those that are counted; [Gaussian] assumes a shape of the trade-off and says so.
//
// The outputs come in, bounds go out: nothing is trained and nothing random is drawn here.
//
// [CP34] Clopper, Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26
//
// [H56] Hoeffding, On the distribution of the number of successes in independent trials, Annals of Mathematical Statistics 27
//
// [KOV15] Kairouz, Oh, Viswanath, The composition theorem for differential privacy, arXiv:1311.0776
//
// [001] Ngo, Östman, Durisi, Graell i Amat, Secure aggregation is not private against membership inference attacks, paper 001
package audit
