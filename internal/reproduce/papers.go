package reproduce

// Papers lists what can be reproduced.
func Papers() []Paper {}
