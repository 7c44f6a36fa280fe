package tool

import "testing"

func TestFolderRel(t *testing.T) {
	f := Folder{Name: "project", Path: "/home/u/project"}
	tests := []struct {
		spelled, want string
		ok            bool
	}{
		{"", ".", true},
		{".", ".", true},
		{"a/b", "a/b", true},
		{"..foo", "..foo", true},
		{"../x", "../x", true},
		{"/project", ".", true},
		{"/project/", ".", true},
		{"/project/a", "a", true},
		{"/project//a", "a", true},
		{"/project/../x", "../x", true},
		{"/projectile/a", "", false},
		{"/home/u/project", ".", true},
		{"/home/u/project/a", "a", true},
		{"/home/u/project/../x", "../x", true},
		{"/home/u/project2/a", "", false},
		{"/home/u", "", false},
		{"/etc/passwd", "", false},
		{"/", "", false},
		{"project/a", "project/a", true},
	}
	for _, test := range tests {
		if got, ok := f.Rel(test.spelled); got != test.want || ok != test.ok {
			t.Errorf("Rel(%q) = %q, %v, want %q, %v", test.spelled, got, ok, test.want, test.ok)
		}
	}
	overlap := Folder{Name: "project", Path: "/project/sub"}
	if got, _ := overlap.Rel("/project/sub/a"); got != "a" {
		t.Errorf("the native reading does not win: %q", got)
	}
	if got, ok := (Folder{Path: "/"}).Rel("/etc"); got != "etc" || !ok {
		t.Errorf("Rel in / = %q, %v", got, ok)
	}
	if _, ok := (Folder{}).Rel("/etc"); ok {
		t.Error("an empty folder contains /etc")
	}
}
