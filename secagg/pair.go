package secagg

import "crypto/mlkem"

// pairSeed is the seed of the mask that two clients have in common, from the mask secret of one, and the box that it was sent by
// the other; both ends find the same.
func pairSeed(p *Params, key agreementKey, secret *Seed, theirs *advert, box []byte, root *[32]byte, mine, other int) (Seed, error) {
	shared, err := agree(key.x25519, &theirs.mask)
	if err != nil {
		return Seed{}, refuse(err, "client %s", theirs.id)
	}
	if p.Hybrid {
		kem, err := key.kem.Decapsulate(box[mlkem.CiphertextSize768:][:mlkem.CiphertextSize768])
		if err != nil {
			return Seed{}, refuse(ErrSeal, "from client %s", theirs.id)
		}
		covered := Seed(box[prefixSize-32 : prefixSize])
		parts := [2]Seed{part(secret, root, mine, other), cover(kem, root, other, mine, &covered)}
		if other < mine {
			parts[0], parts[1] = parts[1], parts[0]
		}
		shared = append(append(shared, parts[0][:]...), parts[1][:]...)
	}
	return derive(shared, root, "pair", min(mine, other), max(mine, other)), nil
}

// adds says whether the first of two clients adds their common mask; the other subtracts it [BIKMMPRSS17, section 4].
func adds(mine, other int) bool { return mine > other }
