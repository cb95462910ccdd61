-- When a scheduler last began to look for it: of redactions that are not done, each has its turn, also where another fails whenever it is looked for.
ALTER TABLE ledger.erasures ADD COLUMN tried_at timestamptz;
