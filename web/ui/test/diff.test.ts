import { countDiff, readDiff } from "../diff.ts";
import { equal, test } from "./check.ts";

const diff = `--- a/x.go
+++ b/x.go
@@ -1,3 +1,4 @@ func x
 one
-two
+TWO
+2
 three
@@ -9 +10 @@
--- a line that begins with two dashes
\\ No newline at end of file
+++ and one with two pluses
\\ No newline at end of file
`;

test("diff: rows with their line numbers", () => {
  equal(
    readDiff(diff).map((r) => ("old" in r ? [r.kind, r.old, r.new, r.text] : [r.kind])),
    [
      ["file"],
      ["file"],
      ["hunk"],
      ["same", 1, 1, "one"],
      ["del", 2, 0, "two"],
      ["add", 0, 2, "TWO"],
      ["add", 0, 3, "2"],
      ["same", 3, 4, "three"],
      ["hunk"],
      ["del", 9, 0, "-- a line that begins with two dashes"],
      ["note"],
      ["add", 0, 10, "++ and one with two pluses"],
      ["note"],
    ],
  );
});

test("diff: counts leave the head of the file out", () => {
  equal(countDiff(readDiff(diff)), { added: 3, removed: 2 });
});

test("diff: what is no diff is shown as it is", () => {
  equal(readDiff("Binary files differ\n"), [{ kind: "file", text: "Binary files differ" }]);
  equal(readDiff(""), []);
});

test("diff: an empty line inside a hunk is a line", () => {
  equal(readDiff("@@ -1,2 +1,2 @@\n\n-a\n+b\n").map((r) => r.kind), ["hunk", "same", "del", "add"]);
});
