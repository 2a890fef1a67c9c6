// Package secagg adds up vectors that nobody may see: the server learns the sum over the clients that stayed, and nothing else.
//
// It is the protocol of Bonawitz et al. in its variant against a malicious server, five phases of messages. Two masks cover
// every vector: one for each pair of clients, which cancel in the sum, and one of the client's own. Both hang on seeds that are
// shared among the others, t of whom restore either the seed of a pair (for a client whose vector did not come) or that of its
// own mask (for one whose vector did), never both: before anything is revealed, t clients must have signed the same set of
// survivors.
//
//	phase      client                             server
//	Advertise  public keys, signed             -> everybody's keys; the cohort's root, a hash of them all
//	Share      a sealed share for each holder  -> the shares sealed to you
//	Upload     the masked vector in chunks     -> the set of survivors
//	Consent    a signature of that set         -> t signatures: the unmask request
//	Unmask     one share of each client        -> the seeds that open the sum
//
// [Client] and [Server] are state machines: bytes in, bytes and decisions out. They know no clock, network or goroutine. Whoever
// runs a server carries messages, decides when a phase has lasted long enough and calls [Server.Close]; vectors go past it to
// one or more aggregators, each an [Aggregator] that adds up a range of chunks. A client answers what it is sent with
// [Client.Handle], and when its shares have arrived it sends [Client.MaskedChunk] for every chunk.
//
//	server: NewServer · Handle(from, message)* · Close(Advertise) · Handle* · Close(Share) · Aggregator.Add*, Uploaded(from)* ·
//	        Close(Upload) · Handle* · Close(Consent): make charges durable, then send · Handle* · Close(Unmask) · Aggregator.Sum(chunk)*
//	client: Accept(proposal) · NewClient · Advertise · Handle(cohort) · Handle(shares) · MaskedChunk(i)* · Handle(survivors) · Handle(request)
//
// Promises. What is refused has changed nothing. A repeated message is answered with the same bytes. A sum is exact or the
// round is abandoned: every restored seed is compared with what its client advertised. Fewer than MinSurvivors contributions:
// nothing is unmasked. Randomness is read once, by [NewClient], and a generator that fails is an error (hybrid keys add the
// system's own, see Params.Hybrid). No error, String or Format shows a secret.
//
// What is left to the caller. Connections prove who is speaking. A client remembers the rounds that it joined and joins none
// twice: a second contribution is a second cost, whatever the masks.
//
// What it does not promise. Whether a vector is honest: a client can poison the sum, and a malicious client can make a round
// fail (by sealing shares that do not open, or dropping out with others). What a sum tells: that is for noise to hide. And from
// metadata: the server knows who took part. [Params.Claim] says what is proved for which parameters.
//
// Layers of noise. With Params.Layers = T every client adds T layers of noise on top of what its vector already has, each drawn
// from a shared seed. When |D| of the invited clients do not contribute, layers |D|+1 to T of the survivors are removed again,
// so that the noise left does not depend on who stayed. Which seeds are revealed follows from the signed set of survivors, so
// it happens once.
//
// The graph. Up to [CompleteUpTo] clients everybody shares with everybody. Above, each has a few dozen neighbours in a graph
// drawn from the cohort's root (secagg/graph). No party chooses the root, but a server that leaves out clients, or a client
// that makes its keys after seeing the others', can try many: therefore nothing is claimed for such graphs against a malicious
// server.
//
// Refusals, for errors.Is:
//
//	ErrParams       parameters that cannot work                     ErrSignature  forged, or made for another round, model or setting
//	ErrPolicy       parameters below the client's policy            ErrCohort     too few clients to go on
//	ErrRandom       the random generator failed                     ErrSeal       a share was sealed by somebody else, or for another cohort
//	ErrMalformed    not the one encoding of a message               ErrShare      a share is no share, or too few or wrong ones came
//	ErrOtherRound   another round, model, setting or cohort         ErrSurvivors  a set that is too small, lacks this client, or has strangers
//	ErrEarly        the phase is not open yet                       ErrDisagree   fewer than t signed the set that this client was shown
//	ErrStale        the phase is closed                             ErrUnmasked   a second unmask request
//	ErrConflict     a second, different message                     ErrIncomplete the chunk's contributors are not the survivors
//	ErrUnknown      not in the roster, cohort or set of survivors   ErrAbandoned  the round is over without a sum
//	ErrKey          a public key of low order or not canonical      ErrReplayedKey  one key for two clients, or not the own key
//	ErrVector       values that do not fill their chunk
//
// [BIKMMPRSS17] Bonawitz, Ivanov, Kreuter, Marcedone, McMahan, Patel, Ramage, Segal, Seth, Practical Secure Aggregation for
// Privacy-Preserving Machine Learning, CCS 2017, eprint 2017/281
// [BBGLR20] Bell, Bonawitz, Gascón, Lepoint, Raykova, Secure Single-Server Aggregation with (Poly)Logarithmic Overhead, CCS 2020,
// eprint 2020/704
// [JWC24] Jiang, Wang, Chen, Dordis: Efficient Federated Learning with Dropout-Resilient Differential Privacy, EuroSys 2024
package secagg
