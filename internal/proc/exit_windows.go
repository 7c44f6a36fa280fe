package proc

import "os"

func signalOf(*os.ProcessState) string { return "" }
