// Package experiment turns a YAML file into a run: it reads and checks the file, plans what a run will cost, simulates the
// federation in this process, and keeps what came of it in a folder.
package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"

	"hubbub/internal/strictyaml"
)

// Config is an experiment file. The tags are its documentation, its checks and its JSON Schema.
type Config struct {
	Name      string    `yaml:"name" doc:"name of the run; results go to runs/NAME-1, -2, ..." required:"true"`
	Seed      uint64    `yaml:"seed" doc:"makes a simulation repeatable; whoever knows it can take the noise away again" default:"1"`
	Data      Data      `yaml:"data"`
	Model     Model     `yaml:"model"`
	Algorithm Algorithm `yaml:"algorithm"`
	Cohort    Cohort    `yaml:"cohort"`
	Rounds    int       `yaml:"rounds" doc:"how many rounds are run" required:"true" min:"1" max:"1000000" alias:"num_rounds,epochs,iterations,steps"`
	StopAt    float64   `yaml:"stop_at" doc:"end the run when the accuracy reaches this part, that of the personal models for prifedsync" min:"0" max:"1" alias:"target_accuracy"`
	Evaluate  int       `yaml:"evaluate_every" doc:"measure accuracy on the public test set every so many rounds" default:"1" min:"1" alias:"eval_every"`
	Privacy   Privacy   `yaml:"privacy"`
	Secagg    *Secagg   `yaml:"secagg" doc:"how contributions are added up (skellam, ddgauss, smm, binomial, waterfill)"`

	Sweep strictyaml.Choices `yaml:"sweep" doc:"paths and the values to try there: every combination is an experiment (privacy.target.epsilon: [1, 2, 3])"`

	doc *strictyaml.Document // where every value stood, for refusals that need the data
}

// refuse points at a value of the file.
func (c *Config) refuse(path, rule string, args ...any) error {
	return c.doc.Refuse(path, rule, args...)
}

// Data says which records there are and who holds them.
type Data struct {
	Name string `yaml:"name" doc:"data set: a name from hubbub data list, or own for files of your own" required:"true" alias:"dataset"`

	From         string    `yaml:"from" doc:"folder or file of your data: CSV, .npy, .npz, Parquet or idx, with a public test set (own)" alias:"path,dir,folder,file"`
	Label        string    `yaml:"label" doc:"column of the labels in a CSV or Parquet file; left out: the last (own)" alias:"target,label_column"`
	Classes      int       `yaml:"classes" doc:"number of classes; left out: the largest label + 1 (own)" min:"2" max:"256" alias:"num_classes"`
	Scale        []float64 `yaml:"scale" doc:"[low, high] become 0 and 1, values beyond are put on them; not to be taken from the data. Left out: values lie in [0, 1], bytes of pictures in [0, 255] (own)" alias:"range,normalize"`
	Shape        []int     `yaml:"shape" doc:"of one record: [features] or [channels, height, width]; left out: as stored (own)" min:"1" max:"1048576"`
	TestFraction float64   `yaml:"test_fraction" doc:"without test files: so much of the records is held back as the public test set, and not protected (own)" gt:"0" lt:"1" alias:"test_size,test_split"`
	SHA256       string    `yaml:"sha256" doc:"of the data as read; a run fills it in, so that it is not resumed with other data (own)"`

	Limit     int `yaml:"limit" doc:"use only the first so many training records; 0: all" min:"0"`
	TestLimit int `yaml:"test_limit" doc:"use only the first so many test records; 0: all" min:"0"`

	PersonalTest int `yaml:"personal_test" doc:"test records that each client measures its own model on, with labels that it trains on (prifedsync)" min:"0"`

	Partition Partition `yaml:"partition"`
}

// Partition says how records are dealt to clients.
type Partition struct {
	Kind       string  `yaml:"kind" doc:"records: one record per client; iid: dealt at random; shards: a few labels per client; dirichlet: uneven label shares; dirichlet-equal: uneven label shares, the same number of records for everyone" required:"true" enum:"records,iid,shards,dirichlet,dirichlet-equal"`
	Clients    int     `yaml:"clients" doc:"number of clients (iid, shards, dirichlet, dirichlet-equal)" min:"0" alias:"num_clients,num_partitions"`
	Shards     int     `yaml:"shards_per_client" doc:"label shards per client (shards)" min:"0" alias:"num_shards_per_partition"`
	Alpha      float64 `yaml:"alpha" doc:"concentration; small: few labels per client (dirichlet, dirichlet-equal)" min:"0"`
	MinRecords int     `yaml:"min_records" doc:"least number of records of a client (dirichlet)" min:"0" alias:"min_partition_size"`
}

// Cohort says who takes part in a round.
type Cohort struct {
	Sampling     string  `yaml:"sampling" doc:"poisson: each client tosses a coin; fixed: so many are drawn" default:"poisson" enum:"poisson,fixed"`
	Size         float64 `yaml:"expected_size" doc:"clients per round; under poisson on average" required:"true" gt:"0" alias:"size,cohort_size,clients_per_round"`
	Dropout      float64 `yaml:"dropout" doc:"simulate that this part of a cohort vanishes before it contributes, on average" min:"0" lt:"1" alias:"dropout_rate,straggler_rate"`
	MinSurvivors int     `yaml:"min_survivors" doc:"abandon a round that fewer clients contributed to" min:"0" alias:"min_clients"`
}

// Privacy says what protects, and how much.
type Privacy struct {
	Unit      string    `yaml:"unit" doc:"what is hidden: all data of one client, or one record" default:"client" enum:"client,record"`
	Delta     float64   `yaml:"delta" doc:"delta of the statement; only with a given noise_multiplier (a target has its own)" min:"0" lt:"1" alias:"target_delta"`
	Mechanism Mechanism `yaml:"mechanism"`
	Target    *Target   `yaml:"target" doc:"choose the noise for this guarantee"`
}

// Mechanism is how an update is protected. Which keys belong to which kind is in the table of kinds.
type Mechanism struct {
	Kind  string  `yaml:"kind" doc:"noise on updates: gaussian, laplace; shares of integer noise: skellam, ddgauss, smm, binomial; noise inside local training: dpsgd, dpsgd-estimated (sized by the data: no guarantee); noise in proportion to each weight: adaptive (paper 003 as printed: no guarantee), adaptive-released (sound); sampling of gradients that hides: waterfill; none: no privacy" required:"true" enum:"gaussian,laplace,skellam,ddgauss,smm,binomial,dpsgd,dpsgd-estimated,adaptive,adaptive-released,waterfill,none"`
	Place string  `yaml:"place" doc:"who adds the noise: the trusted server (central) or every client (local) (gaussian, laplace)" enum:"central,local"`
	Clip  float64 `yaml:"clip" doc:"L2 bound on one client's update, L1 bound for laplace, L2 bound on one record's gradient for dpsgd, dpsgd-estimated, waterfill (there of one group's update, if there are groups)" min:"0" alias:"max_grad_norm,l2_norm_clip,clip_norm,clipping_norm"`

	Granularity float64 `yaml:"granularity" doc:"step of the integer grid (skellam, ddgauss, smm, binomial)" min:"0" alias:"gamma,quantization"`
	Bits        int     `yaml:"bits" doc:"bits per weight of a contribution; left out: as few as hold the sum (skellam, ddgauss, smm, binomial)" min:"2" max:"40" alias:"bit_width"`
	Overflow    string  `yaml:"overflow" doc:"refuse (left out): bits must hold the sum; allow: sums may wrap around, which costs accuracy, not privacy (skellam, ddgauss, smm, binomial)" enum:"refuse,allow"`
	Rotate      bool    `yaml:"rotate" doc:"flatten updates by a shared random rotation, so that fewer bits hold their sum (skellam, ddgauss, smm, binomial)"`
	Rounding    string  `yaml:"rounding" doc:"stochastic: part of the mechanism; conditional: until the norm is below a bound (skellam, ddgauss)" enum:"stochastic,conditional"`
	K           float64 `yaml:"k" doc:"conditional rounding accepts norms up to k clips (skellam)" min:"0"`
	Bound       string  `yaml:"bound" doc:"which proof prices conditional rounding: exact, dsm (paper 002's) or akl (skellam)" enum:"exact,dsm,akl"`

	Noise  float64 `yaml:"noise_multiplier" doc:"standard deviation of the noise over the clip; instead of a target (gaussian, dpsgd, dpsgd-estimated)" min:"0" max:"1048576" alias:"sigma,noise"`
	Scale  float64 `yaml:"scale" doc:"scale of the noise over the clip; instead of a target (laplace)" min:"0" max:"1048576"`
	Rate   float64 `yaml:"rate" doc:"total Poisson rate L of the noise in a sum, variance 2L; instead of a target (skellam, smm)" min:"0"`
	Sigma2 float64 `yaml:"sigma2" doc:"parameter of each share of noise, in squared steps; instead of a target (ddgauss)" min:"0"`
	Trials int     `yaml:"trials" doc:"coins in each share of noise; instead of a target (binomial)" min:"0"`
	Sigma0 float64 `yaml:"sigma0" doc:"noise of a contribution over all it can change by; instead of a target (adaptive, adaptive-released)" min:"0" max:"1000000000"`

	Schedule *Schedule `yaml:"schedule" doc:"what becomes of the noise from round to round; inverse-sqrt: each round has a share of the budget that grows with its number; step: the noise falls by a factor (dpsgd)"`
	Estimate string    `yaml:"estimate" doc:"what sizes the noise: the norms of the step before (history), mean and spread of the norms in a batch (spread), or the largest in it for each tensor (layers) (dpsgd-estimated)" enum:"history,spread,layers"`
	Budget   *Budget   `yaml:"budget" doc:"what the paper's Algorithm 4 may count up to; the run ends before a client would exceed it (adaptive)"`

	Beta     float64 `yaml:"beta" doc:"truncation factor: width of a weight's interval over its size; left out: 1.1 (adaptive, adaptive-released)" gt:"0" max:"1000000000"`
	Reading  string  `yaml:"reading" doc:"what M is in the noise, sqrt(M) sigma0 times the interval: all weights as printed (left out), tensors, one, or batch: one, and the noise is divided by the records in a batch (adaptive)" enum:"weights,tensors,one,batch"`
	Follow   string  `yaml:"follow" doc:"what intervals are in proportion to: a tensor's released weights (left out), or their change in the last release (adaptive-released)" enum:"weights,change"`
	Smallest float64 `yaml:"smallest" doc:"no weight's half interval is below this (adaptive-released)" min:"0"`
	Largest  float64 `yaml:"largest" doc:"nor above this, which is also the first when a change is followed (adaptive-released)" min:"0"`

	Method   string  `yaml:"method" doc:"sgd-dp: a sample of records and noise; gd-dp: all records and noise; gsgd-dp: a random mix of all, filled up with noise; gsgd-isotropic: the mix, and noise everywhere (waterfill)" enum:"sgd-dp,gd-dp,gsgd-dp,gsgd-isotropic"`
	Batch    float64 `yaml:"batch" doc:"records in a sample; of the random mixes a scale, the smaller the more random; none for gd-dp (waterfill)" min:"0"`
	Groups   int     `yaml:"groups" doc:"a client's records are trained on in so many groups, and each group's update takes the place of a record's gradient; batch counts groups then (waterfill with fedavg, fedprox)" min:"0" max:"1000000"`
	Variance float64 `yaml:"variance" doc:"of a client's noise in its mean gradient, or the level that is filled up to; instead of a target (waterfill)" min:"0"`
}

// Secagg is how contributions are added up.
type Secagg struct {
	Kind  string `yaml:"kind" doc:"masked: the protocol is run, all parties in this process; ideal: sums in the clear stand for it, to the same result, fast; none: the server sees every contribution" required:"true" enum:"masked,ideal,none"`
	Noise string `yaml:"noise" doc:"of shares. exact (left out): the total noise is the same whoever came; minimum: each client adds a share sized for min_survivors" enum:"exact,minimum"`

	MaxDropouts  *float64 `yaml:"max_dropouts" doc:"abandon a round that loses a larger part of its cohort; left out: 0.1" min:"0" max:"0.9"`
	Hybrid       bool     `yaml:"hybrid" doc:"keys stand on X25519 and ML-KEM-768 both"`
	MaxColluders float64  `yaml:"max_colluders" doc:"the part of a cohort that may pool what it knows with the server, without harm" min:"0" max:"0.9"`
}

// maxDropouts is the part of a cohort that a round may lose.
func (s *Secagg) maxDropouts() float64 {
	if s.MaxDropouts == nil {
		return 0.1
	}
	return *s.MaxDropouts
}

// Budget is what paper 003 claims to keep to.
type Budget struct {
	Epsilon float64 `yaml:"epsilon" required:"true" gt:"0" max:"1000" doc:"claimed bound on the privacy loss"`
	Delta   float64 `yaml:"delta" required:"true" gt:"0" lt:"1" doc:"claimed probability that the bound fails"`
}

// Target is a guarantee to calibrate the noise to.
type Target struct {
	Epsilon float64 `yaml:"epsilon" required:"true" gt:"0" max:"1000" doc:"bound on the privacy loss" alias:"target_epsilon"`
	Delta   float64 `yaml:"delta" required:"true" gt:"0" lt:"1" doc:"probability that the bound fails; well below one over the number of clients" alias:"target_delta"`
	Against string  `yaml:"against" default:"public" enum:"server,clients,public" doc:"who is kept from learning"`
}

// Load reads an experiment file, applies the overrides (a.b=c) and checks whatever can be checked without the data.
func Load(file string, overrides []string) (*Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, inputError("read the experiment: %w", err)
	}
	return Parse(file, text, overrides)
}

// Parse is Load for text in memory.
func Parse(file string, text []byte, overrides []string) (*Config, error) {
	var c Config
	doc, err := strictyaml.Decode(file, text, overrides, &c)
	if err != nil {
		return nil, err
	}
	if err := c.check(doc); err != nil {
		return nil, err
	}
	c.doc = doc
	return &c, nil
}

// Text is the configuration with every default written out.
func (c *Config) Text() ([]byte, error) { return strictyaml.Encode(*c) }

// Hash identifies the configuration.
func (c *Config) Hash() (string, error) {
	text, err := c.Text()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Schema is the JSON Schema of an experiment file.
func Schema() ([]byte, error) { return strictyaml.Schema(Config{}, "A Hubbub experiment") }

var nameRule = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}$`)
