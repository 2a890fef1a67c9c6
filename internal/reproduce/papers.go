package reproduce

// Papers lists what can be reproduced.
func Papers() []Paper { return []Paper{paper002(), paper004(), compareAll()} }
