-- Times are microseconds since 1970 UTC. Every table that is listed in the
-- order of its making has its own integer key for that; ids are for the outside.

CREATE TABLE folders (
  n       INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  name    TEXT NOT NULL,
  path    TEXT NOT NULL UNIQUE,
  level   TEXT NOT NULL,
  created INTEGER NOT NULL,
  removed INTEGER -- kept for its threads; adding the path again revives it
) STRICT;
CREATE UNIQUE INDEX folders_name ON folders (name) WHERE removed IS NULL;

CREATE TABLE rules (
  n       INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  folder  TEXT NOT NULL,
  kind    TEXT NOT NULL,
  pattern TEXT NOT NULL,
  created INTEGER NOT NULL,
  UNIQUE (folder, kind, pattern)
) STRICT;

CREATE TABLE threads (
  n        INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  folder   TEXT REFERENCES folders (id),
  title    TEXT NOT NULL,
  model    TEXT NOT NULL,
  level    TEXT NOT NULL,
  pinned   INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0,
  deleted  INTEGER, -- when it went to the bin
  doomed   INTEGER NOT NULL DEFAULT 0, -- being purged: gone for everybody, rows still go
  last_seq INTEGER NOT NULL DEFAULT 0,
  read_seq INTEGER NOT NULL DEFAULT 0,
  created  INTEGER NOT NULL,
  updated  INTEGER NOT NULL
) STRICT;
CREATE INDEX threads_folder ON threads (folder);

CREATE TABLE turns (
  n        INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  thread   TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  task     TEXT NOT NULL,
  state    TEXT NOT NULL,
  round    INTEGER NOT NULL DEFAULT 0,
  position INTEGER NOT NULL,
  code     TEXT NOT NULL DEFAULT '',
  reason   TEXT NOT NULL DEFAULT '',
  since    INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  started  INTEGER,
  ended    INTEGER
) STRICT;
CREATE INDEX turns_thread ON turns (thread, n);
CREATE INDEX turns_queue ON turns (thread, position) WHERE state = 'queued';
-- At most one turn of a thread is in flight, whoever writes.
CREATE UNIQUE INDEX turns_flight ON turns (thread) WHERE state NOT IN ('queued', 'answered', 'failed', 'stopped');

-- A thread as the outside sees it: its state and queue are never stored twice.
CREATE VIEW thread_rows AS
SELECT t.n, t.id, coalesce(t.folder, '') AS folder, t.title, t.model, t.level,
  coalesce((SELECT state FROM turns WHERE thread = t.id AND state NOT IN ('queued', 'answered', 'failed', 'stopped')), 'idle') AS state,
  (SELECT count(*) FROM turns WHERE thread = t.id AND state = 'queued') AS queued,
  t.pinned, t.archived, t.deleted, t.last_seq, t.read_seq, t.created, t.updated
FROM threads AS t WHERE t.doomed = 0;

CREATE TABLE chats (
  n        INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  thread   TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  site     TEXT NOT NULL,
  provider TEXT NOT NULL,
  url      TEXT NOT NULL,
  project  TEXT NOT NULL,
  browser  TEXT NOT NULL,
  current  INTEGER NOT NULL,
  created  INTEGER NOT NULL
) STRICT;
CREATE INDEX chats_thread ON chats (thread);
CREATE UNIQUE INDEX chats_current ON chats (thread) WHERE current = 1;

CREATE TABLE messages (
  n         INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  thread    TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  turn      TEXT REFERENCES turns (id) ON DELETE CASCADE,
  round     INTEGER NOT NULL,
  kind      TEXT NOT NULL,
  text      TEXT NOT NULL,
  wire      TEXT NOT NULL,
  final     INTEGER NOT NULL,
  recovered INTEGER NOT NULL,
  delivery  TEXT NOT NULL,
  receipt   TEXT NOT NULL,
  model     TEXT NOT NULL,
  created   INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_thread ON messages (thread, n);
CREATE INDEX messages_turn ON messages (turn, n);

-- The text of a reply while it streams, after messages.text.
CREATE TABLE message_chunks (
  n       INTEGER PRIMARY KEY,
  message INTEGER NOT NULL REFERENCES messages (n) ON DELETE CASCADE,
  text    TEXT NOT NULL
) STRICT;
CREATE INDEX message_chunks_message ON message_chunks (message, n);

-- The bytes are files named by their hash.
CREATE TABLE assets (
  hash  TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL,
  seen  INTEGER NOT NULL -- last put; an unused asset is kept for a while after it
) STRICT;

CREATE TABLE actions (
  n            INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  thread       TEXT REFERENCES threads (id) ON DELETE CASCADE,
  turn         TEXT REFERENCES turns (id) ON DELETE CASCADE,
  round        INTEGER NOT NULL,
  place        INTEGER NOT NULL,
  folder       TEXT NOT NULL,
  tool         TEXT NOT NULL,
  title        TEXT NOT NULL,
  input        TEXT NOT NULL,
  input_asset  TEXT REFERENCES assets (hash),
  door         TEXT NOT NULL,
  actor        TEXT NOT NULL,
  state        TEXT NOT NULL,
  decision     TEXT NOT NULL,
  outcome      TEXT NOT NULL,
  result       TEXT NOT NULL DEFAULT '',
  result_asset TEXT REFERENCES assets (hash),
  created      INTEGER NOT NULL,
  ended        INTEGER
) STRICT;
CREATE INDEX actions_thread ON actions (thread);
CREATE INDEX actions_turn ON actions (turn, round, place);
CREATE INDEX actions_open ON actions (n) WHERE state <> 'done';
CREATE INDEX actions_input ON actions (input_asset) WHERE input_asset IS NOT NULL;
CREATE INDEX actions_result ON actions (result_asset) WHERE result_asset IS NOT NULL;

CREATE TABLE approvals (
  n        INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  thread   TEXT REFERENCES threads (id) ON DELETE CASCADE,
  turn     TEXT REFERENCES turns (id) ON DELETE CASCADE,
  action   TEXT NOT NULL REFERENCES actions (id) ON DELETE CASCADE,
  folder   TEXT NOT NULL,
  tool     TEXT NOT NULL,
  title    TEXT NOT NULL,
  command  TEXT NOT NULL,
  dir      TEXT NOT NULL,
  diff     TEXT NOT NULL,
  boundary TEXT NOT NULL,
  reasons  TEXT NOT NULL,
  state    TEXT NOT NULL,
  always   TEXT NOT NULL,
  reason   TEXT NOT NULL,
  answerer TEXT NOT NULL,
  created  INTEGER NOT NULL,
  answered INTEGER
) STRICT;
CREATE INDEX approvals_thread ON approvals (thread);
CREATE INDEX approvals_turn ON approvals (turn);
CREATE INDEX approvals_action ON approvals (action);
CREATE INDEX approvals_state ON approvals (state, n);

-- AUTOINCREMENT: an id is never given twice, not even after a purge.
CREATE TABLE events (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  thread TEXT REFERENCES threads (id) ON DELETE CASCADE,
  seq    INTEGER NOT NULL,
  turn   TEXT NOT NULL,
  time   INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  body   TEXT NOT NULL,
  UNIQUE (thread, seq)
) STRICT;

-- rowid is events.id
CREATE VIRTUAL TABLE search USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');

CREATE TABLE settings (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE browsers (
  n         INTEGER PRIMARY KEY,
  id        TEXT NOT NULL UNIQUE,
  label     TEXT NOT NULL,
  version   TEXT NOT NULL,
  token     BLOB NOT NULL,
  created   INTEGER NOT NULL,
  last_seen INTEGER NOT NULL
) STRICT;
