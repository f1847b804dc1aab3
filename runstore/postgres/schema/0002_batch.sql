-- Version 2: what one operation marked is known by a name of its own, no longer
-- by the words of its note.
ALTER TABLE apkgate.marks ADD COLUMN batch text COLLATE "C" NOT NULL DEFAULT '';
UPDATE apkgate.marks SET batch = 'refresh ' || at WHERE note = 'baseline refresh';
