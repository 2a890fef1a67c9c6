package fetch

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// WebArchive is a .zip or .tar.gz on the web that holds the files, in any folder, as NAME or compressed as NAME.gz.
type WebArchive struct {
	Address string
	Size    int64         // the most that is downloaded, in bytes
	Client  *http.Client  // as in [Web]
	Stall   time.Duration // as in [Web]
}

func (a WebArchive) String() string { return a.Address }

// Fetch implements [Source].
func (a WebArchive) Fetch(ctx context.Context, files []File, save func(File, io.Reader) error) error {
	// A zip file has its table of contents at the end, so it has to be there as a whole.
	temp, err := os.CreateTemp("", "hubbub-fetch-*-"+path.Base(a.Address))
	if err != nil {
		return &diskError{os.TempDir(), err}
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	web := Web{Client: a.Client, Stall: a.Stall}
	err = web.get(ctx, a.Address, func(body io.Reader) error {
		_, err := io.Copy(diskWriter{temp, temp.Name()}, &bounded{r: body, left: a.Size})
		return err
	})
	if err != nil {
		return err
	}
	return unpack(ctx, temp.Name(), files, save)
}

// Unpacked archives may hold more than we want, but not without end: the largest here, CIFAR-10's, has 0.2 GB.
const maxUnpacked = 4 << 30

func isArchive(name string) bool {
	return strings.HasSuffix(name, ".zip") || strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// unpack saves those of the files that an archive holds, whatever folder they are in. That some are missing is for the caller to
// find out.
func unpack(ctx context.Context, archive string, files []File, save func(File, io.Reader) error) error {
	if strings.HasSuffix(archive, ".zip") {
		return unpackZip(ctx, archive, files, save)
	}
	open, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer open.Close()
	return eachInTar(ctx, open, func(name string, content io.Reader) error {
		return saveMember(name, content, files, save)
	})
}

func unpackZip(ctx context.Context, archive string, files []File, save func(File, io.Reader) error) error {
	members, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer members.Close()
	for _, member := range members.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !wanted(path.Base(member.Name), files) {
			continue
		}
		content, err := member.Open()
		if err == nil {
			err = saveMember(member.Name, content, files, save)
			content.Close()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", member.Name, err)
		}
	}
	return nil
}

// eachInTar hands every regular file of a .tar.gz to use.
func eachInTar(ctx context.Context, compressed io.Reader, use func(name string, content io.Reader) error) error {
	content, err := gzip.NewReader(compressed)
	if err != nil {
		return err
	}
	defer content.Close()
	members := tar.NewReader(&bounded{r: cancellable{ctx, content}, left: maxUnpacked})
	for {
		member, err := members.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if member.Typeflag == tar.TypeReg {
			if err := use(member.Name, members); err != nil {
				return fmt.Errorf("%s: %w", member.Name, err)
			}
		}
	}
}

func wanted(name string, files []File) bool {
	return slices.ContainsFunc(files, func(f File) bool { return name == f.Name || name == f.Name+".gz" })
}

// saveMember saves a member of an archive if it is one of the files.
func saveMember(name string, content io.Reader, files []File, save func(File, io.Reader) error) error {
	for _, file := range files {
		switch path.Base(name) {
		case file.Name:
			return save(file, content)
		case file.Name + ".gz":
			return saveGzip(content, file, save)
		}
	}
	return nil
}
