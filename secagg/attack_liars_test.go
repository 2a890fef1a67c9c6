package secagg

import (
	"errors"
	"slices"
	"testing"
)

// Clients that reveal wrong shares of everybody: the sum stays exact while they are at most half of those beyond the threshold, and
// with more the round is abandoned. It is never wrong.
func TestLiarsDoNotHarmASum(t *testing.T) {
	const n = 11 // t = 6, so five are beyond it
	for liars := range n + 1 {
		s := newStage(t, stageParams(n), Policy{MinSurvivors: 3, Against: Malicious})
		s.upTo(Unmask)
		messages := make([][]byte, n)
		for j, consent := range s.server.consents {
			messages[j] = append(make([]byte, headerSize), consent...)
		}
		request := s.requestMessage(messages)
		for i := range n {
			reveal := slices.Clone(s.ask(i, request))
			if i < liars {
				for at := headerSize; at < len(reveal); at += 8 {
					reveal[at] ^= byte(1 + i)
				}
			}
			if err := s.server.Handle(s.clients[i].advert.id, reveal); err != nil {
				t.Fatal(err)
			}
		}
		out, err := s.server.Close(Unmask)
		if liars > 2 {
			if !errors.Is(err, ErrShare) || s.server.phase != Abandoned {
				t.Errorf("%d liars: %v", liars, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d liars: %v", liars, err)
		} else if !slices.Equal(s.sumOf(s.allBut(), out.Unmasking), s.plain(s.allBut())) {
			t.Errorf("%d liars: a wrong sum", liars)
		}
	}
}
