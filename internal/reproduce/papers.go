package reproduce

// Papers lists what can be reproduced.
func Papers() []Paper {
	return []Paper{paper000(), paper001(), paper002(), paper003(), paper004(), compareAll()}
}
