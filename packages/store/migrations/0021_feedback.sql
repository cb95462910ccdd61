-- What people say of answers, and the reviews that follow. The weight that comes of it is in `adjustments`, as of a revision.

-- What one person said of one version through one answer. `counts` is false once a review has set it aside.
CREATE TABLE knowledge.feedback (
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL,
  person text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  verdict text NOT NULL CHECK (verdict IN ('wrong', 'right')),
  note text,
  said_at timestamptz(3) NOT NULL,
  revision bigint NOT NULL,
  counts boolean NOT NULL DEFAULT true,
  PRIMARY KEY (tenant_id, knowledge_id, version, person, task_id)
);
CREATE INDEX feedback_task ON knowledge.feedback (tenant_id, task_id);

CREATE TABLE knowledge.reviews (
  review_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text COLLATE "C" NOT NULL,
  knowledge_id text COLLATE "C" NOT NULL,
  version int NOT NULL,
  opened_at timestamptz(3) NOT NULL,
  closed_at timestamptz(3),
  closed_by text,
  outcome text,
  CHECK (num_nonnulls(closed_at, closed_by, outcome) IN (0, 3))
);
CREATE UNIQUE INDEX reviews_one_open ON knowledge.reviews (tenant_id, knowledge_id, version) WHERE closed_at IS NULL;
CREATE INDEX reviews_recent ON knowledge.reviews (tenant_id, review_id DESC);

-- What a source contributed.
CREATE INDEX disputes_open ON knowledge.disputes (tenant_id) WHERE resolution IS NULL;

-- When a look last found something: attempts handed out by then may hold it.
ALTER TABLE ledger.erasures ADD COLUMN found_at timestamptz NOT NULL DEFAULT now();

DO $$
DECLARE
  relation text;
BEGIN
  FOREACH relation IN ARRAY ARRAY['feedback', 'reviews'] LOOP
    EXECUTE format('ALTER TABLE knowledge.%I OWNER TO cleanslate_owner', relation);
    EXECUTE format('ALTER TABLE knowledge.%I ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE knowledge.%I FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY maintainer_writes ON knowledge.%I TO cleanslate_maintainer USING (true) WITH CHECK (true)', relation);
    EXECUTE format('GRANT SELECT, INSERT ON knowledge.%I TO cleanslate_maintainer', relation);
    EXECUTE format('GRANT SELECT ON knowledge.%I TO cleanslate_gateway', relation);
    EXECUTE format('CREATE POLICY tenant_reads ON knowledge.%I FOR SELECT TO cleanslate_gateway USING (tenant_id = (SELECT cleanslate.reading_tenant()))', relation);
  END LOOP;
END $$;
GRANT UPDATE (verdict, note, said_at, revision, counts) ON knowledge.feedback TO cleanslate_maintainer;
GRANT UPDATE (closed_at, closed_by, outcome) ON knowledge.reviews TO cleanslate_maintainer;
