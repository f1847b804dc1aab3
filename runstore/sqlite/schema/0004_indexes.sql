-- Version 4: every index of runs, whichever of them a history has.
CREATE INDEX IF NOT EXISTS runs_digest ON runs (digest);
CREATE INDEX IF NOT EXISTS runs_started ON runs (started, id);
CREATE INDEX IF NOT EXISTS runs_state ON runs (state, started, id);
CREATE INDEX IF NOT EXISTS runs_revision ON runs (subject, revision) WHERE revision <> '';
CREATE INDEX IF NOT EXISTS runs_level ON runs (subject, since) WHERE state = 'rebaselined';
