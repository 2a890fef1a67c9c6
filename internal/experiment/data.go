package experiment

import (
	"hubbub/internal/data"
	"hubbub/internal/fetch"
)

// LoadData reads the data set that a configuration names.
func LoadData(c *Config) (train, test *data.Set, err error) {
	if _, err := fetch.Find(c.Data.Name); err != nil {
		return nil, nil, c.refuse("data.name", "is no data set that is known: %v", err)
	}
	dir, err := fetch.Dir()
	if err != nil {
		return nil, nil, inputError("%w", err)
	}
	train, test, err = fetch.Load(c.Data.Name, dir)
	if err != nil {
		return nil, nil, inputError("%w", err)
	}
	return train, test, nil
}
