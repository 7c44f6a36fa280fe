package plx
type Workspace struct{ Name, Path, OS, Shell, Branch, Agents string }
func First(task string, ws Workspace) string { return task }
func Correction(problems []Problem, dropped int) string { return "" }
func Results(rs []Result, remarks []string, b Budget) string { return "" }
func Remarks(r Reply) []string { return nil }
