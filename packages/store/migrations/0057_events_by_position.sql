-- What an event costs in index entries (docs/decisions/0052). Nothing looks events up by their id but the numbering of those that have no position yet, which have an index of their own.
ALTER TABLE ledger.events DROP CONSTRAINT events_pkey;
