package secagg

// LayerNoise adds the noise of a layer to dst, all of it drawn from seed: the client adds with it, and the server calls it with the same
// seed to take the layer away again. Both must use the same function, and nothing else may enter its result.
type LayerNoise func(layer int, seed Seed, dst []int64)

// A client's layers 1 to T hang on a chain of seeds: each gives the next, and none the one before. Revealing the seed of layer
// k reveals layers k to T, which is just what is removed after k-1 dropouts, and anybody can follow it to the
// end of the chain that the client advertised.
func nextLayer(context *[32]byte, seed *Seed) Seed { return derive(seed[:], context, "next layer") }

// layerSeed is what the noise of one chunk of a layer is drawn from.
func layerSeed(context *[32]byte, seed *Seed, chunk int) Seed {
	return derive(seed[:], context, "noise of a chunk", chunk)
}

// layerChain gives the seeds of layers 1 to T, and the end of the chain.
func layerChain(context *[32]byte, first Seed, layers int) (seeds []Seed, end [32]byte) {
	for range layers {
		seeds = append(seeds, first)
		first = nextLayer(context, &first)
	}
	return seeds, first
}

// LayerSeeds are what the noise of one chunk is drawn from, for layers 1 to count of a client whose layers hang on the first seed. Whoever
// knows that needs no protocol: this is for a simulation that adds in the clear what the protocol would leave in the sum.
func (p Params) LayerSeeds(first Seed, chunk, count int) []Seed {
	context := p.context()
	chain, _ := layerChain(&context, first, count)
	for i := range chain {
		chain[i] = layerSeed(&context, &chain[i], chunk)
	}
	return chain
}

// layersFrom gives the seeds of layers k to T from that of layer k, if they lead to the end that was advertised.
func layersFrom(context *[32]byte, k, layers int, seed Seed, end *[32]byte) ([]Seed, bool) {
	seeds, reached := layerChain(context, seed, layers-k+1)
	return seeds, reached == *end
}
