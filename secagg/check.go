package secagg

// check names a test that stands between an attack and its success. Each is asked for through enforced, which is true in every product;
// only tests that are built with the tag unsafe_checks can switch one off, to show that its attack then works.
type check int

const (
	checkKeySignature check = iota // keys are signed for this round, model and setting
	checkKeyOrder                  // keys of low order are refused
	checkModel                     // the model's hash is part of the setting
	checkOnce                      // one set of survivors, one unmask request
	checkConsent                   // t holders signed the same set of survivors
	checkMinimum                   // enough survivors
	checkRestored                  // a restored seed is the one that was advertised
	checks
)
