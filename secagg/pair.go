package secagg

import "crypto/ecdh"

// pairSeed is the seed of the mask that clients mine and theirs have in common; it is the same from both ends.
func pairSeed(key *ecdh.PrivateKey, theirs *advert, root *[32]byte, mine, other int) (Seed, error) {
	shared, err := agree(key, &theirs.mask)
	if err != nil {
		return Seed{}, refuse(err, "client %s", theirs.id)
	}
	return derive(shared, root, "pair", min(mine, other), max(mine, other)), nil
}

// adds says whether the first of two clients adds their common mask; the other subtracts it [BIKMMPRSS17, section 4].
func adds(mine, other int) bool { return mine > other }
