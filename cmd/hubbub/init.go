package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"hubbub/internal/experiment"
)

//go:embed init.yaml
var commented string

const schemaFile = "hubbub.schema.json"

func (a *app) initCommand() *cobra.Command {
	var schema bool
	c := &cobra.Command{
		Use:   "init [FILE.yaml]",
		Short: "Write a commented experiment file",
		Long: `Write a commented experiment file (experiment.yaml unless named). Nothing is overwritten.

With --schema the JSON Schema of such files is written beside it, and the file says so in its first line: editors that
speak YAML then complete keys and mark mistakes.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := "experiment.yaml"
			if len(args) == 1 {
				path = args[0]
			}
			text := commented
			if schema {
				text = "# yaml-language-server: $schema=" + schemaFile + "\n" + text
				described, err := experiment.Schema()
				if err != nil {
					return err
				}
				if err := create(filepath.Join(filepath.Dir(path), schemaFile), described); err != nil {
					return err
				}
			}
			if err := create(path, []byte(text)); err != nil {
				return err
			}
			a.printf("wrote %s\nnext: hubbub plan %s\n", path, path)
			return nil
		},
	}
	c.Flags().BoolVar(&schema, "schema", false, "also write "+schemaFile+" for editors")
	return c
}

// create writes a new file; one that exists is left alone.
func create(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return experiment.Input(fmt.Errorf("%s exists already and is left as it is: name another file", path))
	}
	if err != nil {
		return experiment.Input(err)
	}
	_, err = file.Write(content)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path) // nothing half-written
		return experiment.Input(err)
	}
	return nil
}
