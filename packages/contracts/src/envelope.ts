import { z } from 'zod';
import { CandidateId, ClaimId, StepId, TaskId, TenantId, UtcTime } from './ids.ts';

/**
 * The envelope of every message: a CloudEvents 1.0 JSON event in structured mode. Extension attributes are lower case
 * as the standard asks. Trace context travels in NATS headers, never here.
 */
export const Envelope = z.object({
  specversion: z.literal('1.0'),
  /** Unique per message; the answer to a submit names it as `causationid`. */
  id: z.string().min(1).max(200),
  /** The sender: `/services/scheduler`, `/tenants/acme/cli`. */
  source: z.string().min(1).max(200),
  /** `<name>.v<version>`, e.g. `task.submit.v1`. */
  type: z.string().regex(/^[a-z][a-z0-9_.]{0,80}\.v[1-9][0-9]{0,3}$/, {
    message: 'type must end in its version, as in "task.submit.v1"',
  }),
  subject: z.string().min(1).max(300).optional(),
  time: UtcTime,
  datacontenttype: z.literal('application/json'),
  dataschema: z.string().max(200).optional(),
  tenantid: TenantId,
  taskid: TaskId.optional(),
  stepid: StepId.optional(),
  attempt: z.int().positive().optional(),
  claimid: ClaimId.optional(),
  candidateid: CandidateId.optional(),
  causationid: z.string().max(200).optional(),
  /** Version of the oldest reader that may read this, if it is older than the type's own version. */
  minreader: z.int().positive().optional(),
  /** Raised when a ledger is restored from a backup; part of fence and cursor. */
  epoch: z.int().positive().optional(),
  /** Gapless position of a committed event (CloudEvents' sequence extension); with `epoch` it is the watch cursor. */
  sequence: z
    .string()
    .regex(/^[0-9]{1,18}$/)
    .optional(),
  data: z.unknown(),
});
export type Envelope<D = unknown> = Omit<z.infer<typeof Envelope>, 'data'> & { readonly data: D };

/** The attributes that a sender sets; the rest follows from the message's definition. */
export type EnvelopeAttributes = Pick<
  Envelope,
  | 'id'
  | 'source'
  | 'subject'
  | 'time'
  | 'tenantid'
  | 'taskid'
  | 'stepid'
  | 'attempt'
  | 'claimid'
  | 'candidateid'
  | 'causationid'
  | 'epoch'
  | 'sequence'
>;
