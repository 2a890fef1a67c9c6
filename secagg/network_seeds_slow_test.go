//go:build slow

package secagg_test

const networkSeeds = 20000
