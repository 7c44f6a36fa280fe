-- An exact command means something else in another directory, so its rule holds
-- in one only. A rule from before is for the directory of the question that made
-- it; one whose question is not known any more is dropped, and asked about again.
CREATE TABLE rules_with_dir (
  n       INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  folder  TEXT NOT NULL,
  kind    TEXT NOT NULL,
  pattern TEXT NOT NULL,
  dir     TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE (folder, kind, pattern, dir)
) STRICT;

INSERT INTO rules_with_dir (n, id, folder, kind, pattern, dir, created)
SELECT n, id, folder, kind, pattern,
  CASE kind WHEN 'exact' THEN (SELECT dir FROM approvals WHERE always = rules.id ORDER BY n LIMIT 1) ELSE '' END, created
FROM rules
WHERE kind <> 'exact' OR EXISTS (SELECT 1 FROM approvals WHERE always = rules.id);

DROP TABLE rules;
ALTER TABLE rules_with_dir RENAME TO rules;
