package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// serve answers on loopback, over TLS, and returns a source that asks there.
func serve(t *testing.T, handler http.HandlerFunc) Web {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	return Web{Base: server.URL + "/tiny", Client: server.Client()}
}

// tinyServer serves the tiny data set, with the named file replaced if broken is not nil.
func tinyServer(t *testing.T, name string, broken http.HandlerFunc) Web {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		file := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/tiny/"), ".gz")
		content, ok := tinyContent()[file]
		switch {
		case broken != nil && file == name:
			broken(w, r)
		case !ok:
			http.NotFound(w, r)
		default:
			w.Header().Set("Content-Encoding", "gzip") // as some servers say of every .gz file
			w.Write(compress(t, content))
		}
	})
}

func TestWebServesADataSet(t *testing.T) {
	dir := t.TempDir()
	d := tiny(tinyServer(t, "", nil))
	if _, err := d.get(t.Context(), onDisk(dir), nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.load(dir); err != nil {
		t.Error(err)
	}
}

func TestWhatAServerCanDoWrong(t *testing.T) {
	images := tinyContent()["images"]
	send := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }
	}
	other := slices.Clone(images)
	other[17] ^= 0x80
	packed := compress(t, images)
	tests := map[string]struct {
		broken http.HandlerFunc
		want   string
	}{
		"not found":    {http.NotFound, "images.gz: the server answers 404 Not Found"},
		"out of order": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "503 Service Unavailable"},
		"a body shorter than promised": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write(packed[:20])
		}, "unexpected EOF"},
		"a compressed file cut short":   {send(packed[:len(packed)-9]), "unexpected EOF"},
		"a wrong checksum inside":       {send(append(slices.Clone(packed[:len(packed)-8]), make([]byte, 8)...)), "invalid checksum"},
		"a page in place of a file":     {send([]byte("<html>please log in</html>")), "invalid header"},
		"nothing":                       {send(nil), "EOF"},
		"another content":               {send(compress(t, other)), "expected " + hexSum(images)},
		"a little that means very much": {send(compress(t, make([]byte, 50<<20))), "more than the 18 bytes allowed"},
		"very much that means nothing":  {send(bytes.Repeat(compress(t, nil), 10_000)), "bytes allowed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := tiny(tinyServer(t, "images", test.broken)).get(t.Context(), onDisk(dir), nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if left := listing(t, dir); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestAServerThatStopsSendingIsLeft(t *testing.T) {
	for name, start := range map[string]int{"before the answer": 0, "in the middle": 20} {
		t.Run(name, func(t *testing.T) {
			source := tinyServer(t, "images", func(w http.ResponseWriter, r *http.Request) {
				if start > 0 {
					w.Write(compress(t, tinyContent()["images"])[:start])
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			})
			source.Stall = 100 * time.Millisecond
			_, err := tiny(source).get(t.Context(), onDisk(t.TempDir()), nil)
			if !errors.Is(err, errStalled) {
				t.Errorf("error %v, want %v", err, errStalled)
			}
		})
	}
}

func TestCancellingADownloadLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	source := tinyServer(t, "labels", func(w http.ResponseWriter, r *http.Request) {
		w.Write(compress(t, tinyContent()["labels"])[:15])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	_, err := tiny(source).get(ctx, onDisk(dir), nil)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "before labels was complete") {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if left := listing(t, dir); !slices.Equal(left, []string{"images"}) {
		t.Errorf("folder holds %v, want images, which was complete", left)
	}
}

func TestAnAddressThatIsNoneIsRefused(t *testing.T) {
	err := Web{Base: "http://[::1"}.Fetch(t.Context(), tiny().Files, func(File, io.Reader) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "[::1") {
		t.Errorf("error %v", err)
	}
}
