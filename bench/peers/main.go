// Command peers answers as serve.py does, for Hubbub: it reads what to measure from standard input, one JSON object a line, and
// writes rates. compare.py runs both side by side.
//
//	{"work": "step", "net": "cnn", "batch": 256, "how": "private", "seconds": 1}   ->   {"rate": 1550}
//	{"work": "round", "net": "cnn", "seconds": 1}                                  ->   {"rate": 1.8}
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"hubbub/internal/crew"
	"hubbub/internal/nn"
)

type ask struct {
	Work    string
	Net     string
	Batch   int
	How     string
	Seconds float64
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func serve() error {
	if len(os.Args) != 2 {
		return fmt.Errorf("usage: peers THREADS")
	}
	threads, err := strconv.Atoi(os.Args[1])
	if err != nil || threads < 1 {
		return fmt.Errorf("%q threads: must be a number of at least 1", os.Args[1])
	}
	runtime.GOMAXPROCS(threads)
	clock := wall
	if threads == 1 {
		clock = processor
	}
	shared := crew.New(threads)
	defer shared.Close()
	made := map[ask]func() error{}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for in.More() {
		var a ask
		if err := in.Decode(&a); err != nil {
			return err
		}
		seconds := a.Seconds
		a.Seconds = 0
		run, ok := made[a]
		if !ok {
			if run, err = work(a, shared); err != nil {
				return err
			}
			if err := run(); err != nil { // the first one allocates
				return err
			}
			made[a] = run
		}
		rate, err := measure(run, seconds, clock)
		if err != nil {
			return err
		}
		if err := out.Encode(map[string]float64{"rate": rate * float64(max(1, a.Batch))}); err != nil {
			return err
		}
	}
	return nil
}

func work(a ask, shared *crew.Crew) (func() error, error) {
	net, shape, err := makeNet(a.Net)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Work == "round":
		return newRound(net, shape, shared)
	case a.How == "dpsgd":
		return newTraining(net, shape, a.Batch, shared)
	case a.How == "plain" || a.How == "private":
		return newStep(net, shape, a.Batch, a.How == "private", shared).do, nil
	}
	return nil, fmt.Errorf("%+v: not known", a)
}

func makeNet(name string) (net *nn.Net, shape []int, err error) {
	switch name {
	case "mlp":
		shape = []int{784}
		net, err = nn.MLP(784, []int{80}, 10, nn.ReLU)
	case "cnn":
		shape = []int{1, 28, 28}
		net, err = nn.CNN(shape, 10)
	case "cifar":
		shape = []int{3, 32, 32}
		net, err = nn.CIFAR(shape, 10)
	default:
		err = fmt.Errorf("net %q is none of mlp, cnn, cifar", name)
	}
	return net, shape, err
}

// spell is the shortest time that is measured, in seconds.
const spell = 0.02

// measure gives runs a second, in the best of many short spells: a long one meets other work on the machine.
func measure(run func() error, seconds float64, clock func() float64) (float64, error) {
	best, end := 0.0, clock()+seconds
	for best == 0 || clock() < end {
		calls, start := 0.0, clock()
		for calls == 0 || clock()-start < spell {
			if err := run(); err != nil {
				return 0, err
			}
			calls++
		}
		best = max(best, calls/(clock()-start))
	}
	return best, nil
}

func wall() float64 { return float64(time.Now().UnixNano()) / 1e9 }

// processor is the time that this process had a processor for.
func processor() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return wall()
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
