package secagg

import (
	"errors"
	"fmt"
)

// The refusals, to be told apart with errors.Is. What was refused has changed nothing.
var (
	ErrParams      = errors.New("secagg: impossible parameters")
	ErrPolicy      = errors.New("secagg: parameters below the client's policy")
	ErrRandom      = errors.New("secagg: the random generator failed")
	ErrMalformed   = errors.New("secagg: malformed message")
	ErrOtherRound  = errors.New("secagg: message of another round, model, setting or cohort")
	ErrEarly       = errors.New("secagg: message of a phase that is not open yet")
	ErrStale       = errors.New("secagg: message of a phase that is closed")
	ErrConflict    = errors.New("secagg: a second message differs from the first")
	ErrUnknown     = errors.New("secagg: client not in the roster or cohort")
	ErrKey         = errors.New("secagg: unusable public key")
	ErrReplayedKey = errors.New("secagg: a key is there twice")
	ErrSignature   = errors.New("secagg: bad signature")
	ErrCohort      = errors.New("secagg: cohort too small")
	ErrSeal        = errors.New("secagg: a sealed share does not open")
	ErrShare       = errors.New("secagg: bad share")
	ErrSurvivors   = errors.New("secagg: unacceptable set of survivors")
	ErrDisagree    = errors.New("secagg: too few clients signed this set of survivors")
	ErrUnmasked    = errors.New("secagg: already answered another unmask request")
	ErrIncomplete  = errors.New("secagg: a chunk's contributors are not the survivors")
	ErrAbandoned   = errors.New("secagg: the round was abandoned")
)

// refuse gives the reason behind its kind: "secagg: bad share: ...".
func refuse(kind error, format string, args ...any) error {
	return fmt.Errorf("%w: %w", kind, fmt.Errorf(format, args...))
}
