-- Version 6: what did not respond in a run, beside its record; NULL where everything did.
ALTER TABLE runs ADD COLUMN anrs BLOB;
CREATE INDEX runs_anrs ON runs (started, id) WHERE anrs IS NOT NULL;
