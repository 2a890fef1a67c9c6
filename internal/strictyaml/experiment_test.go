package strictyaml

// experiment is shaped like the experiment file of the project, with every tag and kind in use.
type experiment struct {
	Name      string    `yaml:"name" doc:"names the run directory" required:"true"`
	Seed      uint64    `yaml:"seed" doc:"of the simulation" default:"1"`
	Data      dataset   `yaml:"data"`
	Model     model     `yaml:"model"`
	Algorithm algorithm `yaml:"algorithm"`
	Cohort    cohort    `yaml:"cohort"`
	Rounds    int       `yaml:"rounds" doc:"how many models are released" required:"true" min:"1" alias:"epochs,num_rounds"`
	Privacy   *privacy  `yaml:"privacy" alias:"dp"`
	Secagg    *secagg   `yaml:"secagg"`
	Stages    []stage   `yaml:"stages" doc:"changes of the learning rate"`
	Grid      [][]int64 `yaml:"grid"`
	Verbose   bool      `yaml:"verbose"`
	Notes     string    `yaml:"notes"`

	computed int    // unexported: not of the file
	Path     string `yaml:"-"`
}

type dataset struct {
	Name      string    `yaml:"name" doc:"data set" required:"true" enum:"mnist,femnist,cifar10" alias:"dataset"`
	Partition partition `yaml:"partition"`
}

type partition struct {
	Kind  string   `yaml:"kind" enum:"records,iid,shards,dirichlet" default:"iid"`
	Alpha *float64 `yaml:"alpha" gt:"0"`
}

type model struct {
	Kind   string `yaml:"kind" enum:"mlp,linear" default:"mlp"`
	Hidden []int  `yaml:"hidden" doc:"widths of the hidden layers" min:"1" max:"4096" default:"[80]" alias:"layers"`
}

type algorithm struct {
	Kind   string    `yaml:"kind" enum:"fedsgd,fedavg" default:"fedsgd"`
	Server optimizer `yaml:"server"`
}

type optimizer struct {
	Kind string  `yaml:"kind" enum:"sgd,momentum,adam,rmsprop" default:"sgd"`
	Rate float64 `yaml:"lr" doc:"learning rate" gt:"0" default:"0.1" alias:"learning_rate"`
}

type cohort struct {
	Sampling     string `yaml:"sampling" enum:"poisson,fixed" default:"fixed"`
	ExpectedSize int64  `yaml:"expected_size" doc:"clients of a round, on average" min:"1" required:"true"`
	MinSurvivors *int   `yaml:"min_survivors" min:"1"`
}

type privacy struct {
	Unit      string    `yaml:"unit" enum:"client,record" required:"true"`
	Mechanism mechanism `yaml:"mechanism"`
	Target    *target   `yaml:"target"`
}

type mechanism struct {
	Kind        string   `yaml:"kind" enum:"gaussian,skellam" required:"true"`
	Clip        float64  `yaml:"clip" doc:"L2 bound on one update" gt:"0" required:"true" alias:"max_grad_norm,l2_norm_clip"`
	Granularity float64  `yaml:"granularity" gt:"0"`
	Bits        int      `yaml:"bits" min:"1" max:"32"`
	Rounding    string   `yaml:"rounding" enum:"stochastic,conditional"`
	Multiplier  *float64 `yaml:"noise_multiplier" min:"0" alias:"sigma"`
}

type target struct {
	Epsilon float64 `yaml:"epsilon" gt:"0" required:"true"`
	Delta   float64 `yaml:"delta" gt:"0" lt:"1" required:"true"`
	Against string  `yaml:"against" enum:"server,clients,public" default:"public"`
}

type secagg struct {
	Kind         string  `yaml:"kind" enum:"masked,ideal,none" required:"true"`
	MaxColluders float64 `yaml:"max_colluders" min:"0" lt:"1"`
	MaxDropouts  float64 `yaml:"max_dropouts" min:"0" lt:"1" default:"0.1"`
	Noise        string  `yaml:"noise" enum:"exact,committee"`
}

type stage struct {
	From  int       `yaml:"from" required:"true"`
	Rate  float64   `yaml:"lr" gt:"0"`
	Decay *struct{} `yaml:"decay"`
}

const example = `name: skellam-mnist
seed: 7                      # simulation only; a real client draws its noise from the system's generator
data:    {name: mnist, partition: {kind: records}}     # records | iid | shards | dirichlet
model:   {kind: mlp, hidden: [80]}                     # 784-80-10 has 63,610 weights
algorithm: {kind: fedsgd, server: {kind: adam, lr: 0.005}}
cohort:  {sampling: poisson, expected_size: 240, min_survivors: 200}
rounds:  250
privacy:
  unit: client
  mechanism: {kind: skellam, clip: 1.0, granularity: 0.1, bits: 8, rounding: stochastic}   # or conditional, k: 5
  target: {epsilon: 3, delta: 1e-5, against: public}   # or rate: L / noise_multiplier: z in the mechanism
secagg:  {kind: masked, max_colluders: 0.1, max_dropouts: 0.1, noise: exact}  # masked | ideal (simulation) | none
`

func exampleValue() experiment {
	survivors := 200
	return experiment{
		Name:      "skellam-mnist",
		Seed:      7,
		Data:      dataset{Name: "mnist", Partition: partition{Kind: "records"}},
		Model:     model{Kind: "mlp", Hidden: []int{80}},
		Algorithm: algorithm{Kind: "fedsgd", Server: optimizer{Kind: "adam", Rate: 0.005}},
		Cohort:    cohort{Sampling: "poisson", ExpectedSize: 240, MinSurvivors: &survivors},
		Rounds:    250,
		Privacy: &privacy{
			Unit:      "client",
			Mechanism: mechanism{Kind: "skellam", Clip: 1, Granularity: 0.1, Bits: 8, Rounding: "stochastic"},
			Target:    &target{Epsilon: 3, Delta: 1e-5, Against: "public"},
		},
		Secagg: &secagg{Kind: "masked", MaxColluders: 0.1, MaxDropouts: 0.1, Noise: "exact"},
	}
}
