package experiment

import (
	"bytes"
	"fmt"
	"image/png"

	"hubbub/internal/data"
	"hubbub/internal/report"
)

// report writes the page of a run. Its picture of the data shows the public test set: nobody's training records are in it.
func (r *run) report(result Result, version string) ([]byte, error) {
	text, err := r.f.Config.Text()
	if err != nil {
		return nil, err
	}
	page := report.Run{
		Name:    result.Name,
		Summary: fmt.Sprintf("A network of %d weights, trained by %s over %d clients that hold %s.", r.f.Net.Size(), r.f.Config.Algorithm.Kind, len(r.f.Parts), r.f.Train.Name),
		Version: version, Command: "hubbub run " + configFile, Finished: result.Finished, Note: result.Note,
		Accuracy: result.Accuracy, Loss: result.Loss, Rounds: result.Rounds, PlannedRounds: r.f.Config.Rounds, Seconds: result.Seconds,
		BytesUp: result.BytesUp, BytesDown: result.BytesDown, ModelHash: result.ModelHash, ConfigHash: result.ConfigHash, Config: string(text),
	}
	for _, row := range result.Statement {
		page.Statement = append(page.Statement, report.Row{
			Adversary: string(row.Adversary), Unit: string(row.Unit), Epsilon: row.Epsilon, Delta: row.Delta, Mu: row.Mu, Accountant: row.Accountant,
			Guarantee: row.Guarantee, Why: row.Why, ClaimedByPaper: row.ClaimedByPaper, Assumptions: row.Assumptions, Notes: row.Notes, Caveat: row.Caveat(),
		})
	}
	for _, m := range r.lines {
		point := report.Point{Round: m.Round, Accuracy: m.Accuracy, Loss: m.Loss}
		if m.Epsilon != nil {
			point.Epsilon = map[string]*float64{}
			for adversary, epsilon := range m.Epsilon {
				point.Epsilon[string(adversary)] = epsilon
			}
		}
		page.Metrics = append(page.Metrics, point)
	}
	if sheet, err := data.ContactSheet(r.f.Test, r.f.Test.FirstOfEachClass(16)); err == nil { // not every record is a picture
		var picture bytes.Buffer
		if err := png.Encode(&picture, sheet); err != nil {
			return nil, err
		}
		page.DataPicture = picture.Bytes()
	}
	return report.Page(page)
}
