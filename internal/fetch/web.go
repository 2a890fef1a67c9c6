package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"time"
)

// Web is a folder on the web that holds the files, each compressed as NAME.gz.
type Web struct {
	Base   string        // an address to which "/NAME.gz" is added
	Client *http.Client  // default: one that follows the usual proxy variables and does not wait forever
	Stall  time.Duration // give up when no byte came for so long; default one minute
}

func (w Web) String() string { return w.Base }

var errStalled = errors.New("the server stopped sending")

// Fetch implements [Source].
func (w Web) Fetch(ctx context.Context, files []File, save func(File, io.Reader) error) error {
	for _, file := range files {
		err := w.get(ctx, w.Base+"/"+file.Name+".gz", func(body io.Reader) error { return saveGzip(body, file, save) })
		if err != nil {
			return err
		}
	}
	return nil
}

// impatient is the usual way to the web, but gives up after seconds where nobody answers: another source may be at hand.
var impatient = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	transport.TLSHandshakeTimeout = 5 * time.Second
	transport.IdleConnTimeout = 5 * time.Second
	return &http.Client{Transport: transport}
}()

// get asks for an address and hands what comes to use.
func (w Web) get(ctx context.Context, address string, use func(io.Reader) error) error {
	if w.Client == nil {
		w.Client = impatient
	}
	if w.Stall == 0 {
		w.Stall = time.Minute
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(w.Stall, func() { cancel(errStalled) })
	defer watchdog.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	// Some servers call a .gz file "encoded" and a client that asked for an encoding would then decompress it unasked.
	request.Header.Set("Accept-Encoding", "identity")
	response, err := w.Client.Do(request)
	if err != nil {
		return orStalled(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: the server answers %s", path.Base(address), response.Status)
	}
	body := readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		watchdog.Reset(w.Stall)
		return n, err
	})
	return orStalled(ctx, use(body))
}

// orStalled puts the reason in place of the "context canceled" that it has caused.
func orStalled(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
