import { type ConsumerSpec, type StreamSpec, subjectsOverlap } from '@cleanslate/contracts';
import type { Topology } from './topology.ts';

/** Faults of a topology that the broker accepts, or reports only at run time. Empty: none. */
export function lintTopology({ streams, consumers }: Topology): string[] {
  return [
    ...streams.flatMap(lintReserved),
    ...pairs(streams).flatMap(([a, b]) => lintStreamPair(a, b)),
    ...consumers.flatMap((consumer) => lintConsumer(consumer, streams)),
    ...pairs(consumers).flatMap(([a, b]) => lintConsumerPair(a, b, streams)),
  ];
}

/** A stream that stores replies or API traffic loops, or answers in the server's place. */
function lintReserved({ name, subjects }: StreamSpec): string[] {
  return subjects.flatMap((subject) => {
    const [first = ''] = subject.split('.');
    if (first === '>' || first === '*') return [`stream ${name}: "${subject}" also captures _INBOX and $JS`];
    if (first.startsWith('$') || first.startsWith('_')) return [`stream ${name}: "${subject}" is the server's own`];
    return [];
  });
}

function lintStreamPair(a: StreamSpec, b: StreamSpec): string[] {
  return a.subjects.flatMap((left) =>
    b.subjects
      .filter((right) => subjectsOverlap(left, right))
      .map((right) => `streams ${a.name} ("${left}") and ${b.name} ("${right}") capture the same subjects`),
  );
}

function lintConsumer(consumer: ConsumerSpec, streams: readonly StreamSpec[]): string[] {
  const stream = streams.find(({ name }) => name === consumer.stream);
  const where = `durable ${consumer.stream}/${consumer.durable}`;
  if (stream === undefined) return [`${where}: no such stream`];
  if (!stream.subjects.some((subject) => subjectsOverlap(subject, consumer.filter))) {
    return [`${where}: "${consumer.filter}" matches no subject of the stream`];
  }
  return [];
}

function lintConsumerPair(a: ConsumerSpec, b: ConsumerSpec, streams: readonly StreamSpec[]): string[] {
  if (a.stream !== b.stream) return [];
  if (a.durable === b.durable) return [`durable ${a.stream}/${a.durable} is named twice`];
  const retention = streams.find(({ name }) => name === a.stream)?.retention;
  if (retention !== 'workqueue' || !subjectsOverlap(a.filter, b.filter)) return [];
  return [`durables ${a.durable} ("${a.filter}") and ${b.durable} ("${b.filter}") overlap on work queue ${a.stream}`];
}

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((a, i) => items.slice(i + 1).map((b): [T, T] => [a, b]));
}
