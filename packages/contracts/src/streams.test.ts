import { describe, expect, it } from 'vitest';
import { BUILT_IN_ROLES, CATALOGUE, consumersFor, MAX_DOCUMENT_BYTES, permissionsFor, STREAMS } from './index.ts';
import { subjectsOverlap, toFilter } from './subject-overlap.ts';

const streamsOf = (subject: string) =>
  STREAMS.filter((stream) => stream.subjects.some((own) => subjectsOverlap(own, subject))).map(({ name }) => name);
const isStream = (transport: string) => !['core', 'request'].includes(transport);

describe('subjects of the catalogue', () => {
  it.each(
    CATALOGUE.filter(({ transport }) => isStream(transport)).map(({ subject, transport }) => [subject, transport]),
  )('%s is kept by %s and no other stream', (subject, transport) =>
    expect(streamsOf(toFilter(subject))).toEqual([transport]),
  );

  it.each(CATALOGUE.filter(({ transport }) => !isStream(transport)).map(({ subject }) => subject))(
    '%s is kept by no stream',
    (subject) => expect(streamsOf(toFilter(subject))).toEqual([]),
  );

  it('are no part of each other', () => {
    const filters = CATALOGUE.map(({ subject }) => toFilter(subject));
    for (const [i, one] of filters.entries())
      for (const other of filters.slice(i + 1))
        expect([one, other, subjectsOverlap(one, other)]).toEqual([one, other, false]);
  });
});

describe('streams', () => {
  it('hold nothing but subjects of the catalogue', () => {
    const kept = CATALOGUE.filter(({ transport }) => isStream(transport)).map(({ subject }) => toFilter(subject));
    expect(STREAMS.flatMap((stream) => stream.subjects).sort()).toEqual(kept.sort());
  });

  it('share no subject: a message is in one stream', () => {
    for (const { name, subjects } of STREAMS)
      for (const subject of subjects) expect([subject, streamsOf(subject)]).toEqual([subject, [name]]);
  });

  it('capture neither inboxes nor the broker’s own subjects: their replies would be stored, and acks with them', () => {
    for (const subject of ['_INBOX.>', '_INBOX_scheduler.>', '$JS.>', '$JS.API.>', '$JS.ACK.>', '$SYS.>', '$KV.>'])
      expect([subject, streamsOf(subject)]).toEqual([subject, []]);
    for (const { subjects } of STREAMS) for (const subject of subjects) expect(subject).not.toMatch(/>|^\*|^[_$]/);
  });

  it('the dead letters lie outside of all others, so that a full or deleted stream takes none with it', () => {
    for (const { stream, durable } of consumersFor(BUILT_IN_ROLES))
      expect(streamsOf(`dlq.${stream}.${durable}`)).toEqual(['DLQ']);
  });

  it('leave room for others, whatever one tenant submits', () => {
    const intake = STREAMS.find(({ name }) => name === 'INTAKE');
    const { maxMessagesPerSubject = 0, maxMessageBytes = 0, maxBytes = 0 } = intake ?? {};
    expect(maxMessagesPerSubject * maxMessageBytes).toBeGreaterThan(0);
    expect(maxMessagesPerSubject * maxMessageBytes).toBeLessThan((3 / 4) * maxBytes);
    // A document that is just too large is refused by the scheduler, who says which field.
    expect(maxMessageBytes).toBeGreaterThan(1.25 * MAX_DOCUMENT_BYTES);
  });

  it('keep work until it is acked; only events age', () => {
    expect(STREAMS.filter(({ retention }) => retention === 'limits').map(({ name }) => name)).toEqual(['EVENTS']);
    expect(STREAMS.filter(({ maxAgeMs }) => maxAgeMs > 0).map(({ name }) => name)).toEqual(['EVENTS']);
    for (const { maxBytes } of STREAMS) expect(maxBytes).toBeGreaterThan(0);
  });
});

describe('durable consumers', () => {
  const consumers = consumersFor(BUILT_IN_ROLES);

  it('each read a part of their stream', () => {
    for (const { stream, filter } of consumers) expect([filter, streamsOf(filter)]).toEqual([filter, [stream]]);
  });

  it('of a work queue read no message twice', () => {
    const queues = consumers.filter(({ stream }) => stream !== 'EVENTS');
    for (const one of queues)
      for (const other of queues)
        if (one !== other && one.stream === other.stream) expect(subjectsOverlap(one.filter, other.filter)).toBe(false);
  });

  it('leave no work unread', () => {
    const works = CATALOGUE.filter(({ transport }) => isStream(transport) && transport !== 'EVENTS');
    for (const { subject } of works)
      expect(consumers.filter(({ filter }) => subjectsOverlap(filter, toFilter(subject)))).not.toHaveLength(0);
  });

  it('have one owner, who may give up a message there and nobody else', () => {
    expect(new Set(consumers.map(({ durable }) => durable)).size).toBe(consumers.length);
    const { publish } = permissionsFor({ kind: 'worker', role: 'analyzer' }, BUILT_IN_ROLES);
    expect(publish.filter((subject) => subject.startsWith('dlq.'))).toEqual(['dlq.COMMANDS.work-analyzer']);
  });
});
