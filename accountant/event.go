package accountant

// Event is what one mechanism costs. Events are plain values that nest freely; only this package defines kinds of them.
type Event interface {
	// kind is the key of the event in JSON and YAML.
	kind() string
	// check refuses impossible parameters, here and in nested events.
	check() error
	// fits lists the adjacencies for which the event has a meaning, the usual one first.
	fits() []Adjacency
	// unit is the unit that the event is usually about, and whether it can be about no other.
	unit() (usual Unit, only bool)
	// rdp bounds the Renyi divergence, in both directions, at each order; +Inf where no bound is known.
	// An order of +Inf asks for pure differential privacy.
	rdp(orders []float64) []float64
}

// Gaussian adds normal noise whose standard deviation is NoiseMultiplier times the L2 sensitivity.
type Gaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// Laplace adds Laplace noise whose scale is Scale times the L1 sensitivity, to Dim coordinates (0: one).
type Laplace struct {
	Scale float64 `json:"scale"`
	Dim   int     `json:"dim,omitempty"`
}

// Skellam adds to each coordinate of an integer vector the difference of two Poisson variables of rate Rate
// (variance 2*Rate). L2 and Linf bound how far one unit moves the vector; Linf 0 means "no better than L2".
type Skellam struct {
	Rate  float64      `json:"rate"`
	L2    float64      `json:"l2"`
	Linf  float64      `json:"linf,omitempty"`
	Bound SkellamBound `json:"bound,omitempty"`
}

// SkellamBound chooses which proof prices a Skellam event.
type SkellamBound string

const (
	SkellamExact SkellamBound = "exact" // the divergence itself, summed; the default
	SkellamDSM   SkellamBound = "dsm"   // Theorem 1 of the distributed Skellam mechanism
	SkellamAKL   SkellamBound = "akl"   // Agarwal, Kairouz and Liu 2021, Corollary 4.1
)

// RoundedSkellam rounds a real vector of norm at most L2 at random to integers (unbiased, each coordinate by itself) and
// then adds Skellam noise. The rounding is part of the mechanism, so L2 is the norm before rounding.
type RoundedSkellam struct {
	Rate float64 `json:"rate"`
	L2   float64 `json:"l2"`
}

// SMM is the Skellam mixture mechanism: C bounds the sum of x^2 + p - p^2 over the coordinates after its own clipping
// (p is the fractional part of x), Linf the largest coordinate.
type SMM struct {
	Rate float64 `json:"rate"`
	C    float64 `json:"c"`
	Linf float64 `json:"linf"`
}

// DiscreteGaussian adds one discrete Gaussian of parameter Sigma2 to each coordinate of an integer vector.
type DiscreteGaussian struct {
	Sigma2 float64 `json:"sigma2"`
	L2     float64 `json:"l2"`
}

// DiscreteGaussianSum is the sum of Clients discrete Gaussians of parameter Sigma2 each, in Dim coordinates. A sum of
// discrete Gaussians is not one, which is what Dim is charged for.
type DiscreteGaussianSum struct {
	Clients int     `json:"clients"`
	Sigma2  float64 `json:"sigma2"`
	L2      float64 `json:"l2"`
	Dim     int     `json:"dim"`
}

// Binomial adds Bin(Trials, P) to one integer that a unit moves by at most Shift. It has no finite Renyi divergence.
type Binomial struct {
	Trials int     `json:"trials"`
	P      float64 `json:"p"`
	Shift  int     `json:"shift"`
}

// CPSGD is the binomial mechanism in Dim coordinates, priced by the closed form of cpSGD.
type CPSGD struct {
	Trials int     `json:"trials"`
	P      float64 `json:"p"`
	L1     float64 `json:"l1"`
	L2     float64 `json:"l2"`
	Linf   float64 `json:"linf"`
	Dim    int     `json:"dim"`
}

// Waterfill is one round of Gaussian gradient sampling with water-filling: every client raises each eigenvalue of the
// covariance of its update to at least Variance. Clients counts those who do not collude.
type Waterfill struct {
	Clients  int     `json:"clients"`
	Records  int     `json:"records"`
	Batch    float64 `json:"batch"`
	Clip     float64 `json:"clip"`
	Variance float64 `json:"variance"`
}

// GaussianSampling is one round of Gaussian gradient sampling where every client's update has, whatever its data, a
// covariance of at least Variance in every direction (for instance because isotropic noise of that variance is added).
type GaussianSampling struct {
	Clients  int     `json:"clients"`
	Records  int     `json:"records"`
	Batch    float64 `json:"batch"`
	Clip     float64 `json:"clip"`
	Variance float64 `json:"variance"`
}

// Subspace is one round of Gaussian gradient sampling where all gradients lie in one public subspace, in which every
// client's gradient covariance has, whatever its data, no eigenvalue below Eigenvalue.
type Subspace struct {
	Clients    int     `json:"clients"`
	Records    int     `json:"records"`
	Batch      float64 `json:"batch"`
	Clip       float64 `json:"clip"`
	Eigenvalue float64 `json:"eigenvalue"`
}

// GDP is any mechanism that is Mu-Gaussian differentially private.
type GDP struct {
	Mu float64 `json:"mu"`
}

// None protects nothing: its epsilon is infinite. (Nothing released is an empty [Compose], which costs 0.)
type None struct{}

// Unsound is a mechanism whose published guarantee does not hold: epsilon is infinite. Why says what is wrong, Claimed
// what the paper says.
type Unsound struct {
	Why     string `json:"why"`
	Claimed string `json:"claimed,omitempty"`
}

// Poisson runs Event on a sample that each unit enters by itself with probability Rate.
type Poisson struct {
	Rate  float64 `json:"rate"`
	Event Event   `json:"event"`
}

// WithoutReplacement runs Event on a uniform sample of fixed size, the share Rate of all units.
type WithoutReplacement struct {
	Rate  float64 `json:"rate"`
	Event Event   `json:"event"`
}

// Repeat runs Event Count times, each time with fresh noise and free to depend on what came before.
type Repeat struct {
	Count int   `json:"count"`
	Event Event `json:"event"`
}

// Compose runs its events one after the other. Empty, it is the event that nothing was released.
type Compose []Event

func (Gaussian) kind() string            { return "gaussian" }
func (Laplace) kind() string             { return "laplace" }
func (Skellam) kind() string             { return "skellam" }
func (RoundedSkellam) kind() string      { return "rounded_skellam" }
func (SMM) kind() string                 { return "smm" }
func (DiscreteGaussian) kind() string    { return "discrete_gaussian" }
func (DiscreteGaussianSum) kind() string { return "discrete_gaussian_sum" }
func (Binomial) kind() string            { return "binomial" }
func (CPSGD) kind() string               { return "cpsgd" }
func (Waterfill) kind() string           { return "waterfill" }
func (GaussianSampling) kind() string    { return "gaussian_sampling" }
func (Subspace) kind() string            { return "subspace" }
func (GDP) kind() string                 { return "gdp" }
func (None) kind() string                { return "none" }
func (Unsound) kind() string             { return "unsound" }
func (Poisson) kind() string             { return "poisson" }
func (WithoutReplacement) kind() string  { return "without_replacement" }
func (Repeat) kind() string              { return "repeat" }
func (Compose) kind() string             { return "compose" }
