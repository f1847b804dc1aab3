-- Version 2: what one operation marked is known by a name of its own, no longer
-- by the words of its note.
ALTER TABLE marks ADD COLUMN batch TEXT NOT NULL DEFAULT '';
UPDATE marks SET batch = 'refresh ' || at WHERE note = 'baseline refresh';
