-- What an event costs in index entries (docs/decisions/0052). Events are found by their position or their task, and those that have no position yet by `events_unnumbered`; their
-- own number orders those and finds nothing by itself. A ninth of an event's cost.
ALTER TABLE ledger.events DROP CONSTRAINT events_pkey;
