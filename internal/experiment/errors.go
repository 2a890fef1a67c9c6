package experiment

import (
	"errors"
	"fmt"

	"hubbub/internal/strictyaml"
)

// InputError is a problem that its reader can mend: a file, a setting, a full disk.
type InputError struct{ err error }

func (e *InputError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *InputError) Unwrap() error { return e.err }

func inputError(format string, args ...any) error { return &InputError{fmt.Errorf(format, args...)} }

// Input marks an error of another package as one that its reader can mend.
func Input(err error) error { return &InputError{err} }

// IsInput reports whether the reader can mend it: exit code 2.
func IsInput(err error) bool {
	var input *InputError
	var one *strictyaml.Error
	var many strictyaml.Errors
	return errors.As(err, &input) || errors.As(err, &one) || errors.As(err, &many)
}
