import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Candidate, canonicalJson } from '@cleanslate/contracts';
import { fakeStepContext } from '@cleanslate/runtime/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { analyzeExecutor } from './contract-review.ts';

const fixture = new URL('../../../../packages/workflows/src/contract-review/fixtures/hostile.json', import.meta.url);
const HOSTILE: readonly string[] = JSON.parse(readFileSync(fixture, 'utf8'));
const CONTRACT = [
  'Customer shall pay the fees of each invoice within thirty (30) days of receipt.',
  'This Agreement shall be governed by the laws of the State of Ohio.',
  'Either party may terminate this Agreement at any time upon sixty (60) days prior written notice.',
].join('\n\n');

/** What one run proposes and gives, and whether it tried to reach anything. */
async function analyze(text: string) {
  const proposed: Candidate[] = [];
  const context = fakeStepContext({
    documents: { read: async () => text },
    blackboard: {
      propose: async (candidate: Candidate) => {
        proposed.push(candidate);
        return `candidate-${proposed.length}`;
      },
    },
  });
  const document = { name: 'c.txt', mediaType: 'text/plain', sha256: 'a'.repeat(64), bytes: 10 };
  const output = await analyzeExecutor().execute(context, { document, facts: [], feedback: null });
  const facts = proposed.map(({ statement, assertion, sourceType, confidence }) => ({
    statement,
    assertion,
    sourceType,
    confidence,
  }));
  return { facts, output };
}

describe('a document that speaks to a machine', () => {
  const reach = { fetch: vi.spyOn(globalThis, 'fetch'), connect: vi.spyOn(Socket.prototype, 'connect') };
  beforeEach(() => {
    for (const spy of Object.values(reach)) spy.mockClear();
  });
  afterEach(() => {
    for (const spy of Object.values(reach)) expect(spy).not.toHaveBeenCalled();
  });

  test('the spies see a request', async () => {
    await expect(fetch('http://127.0.0.1:9/')).rejects.toThrow();
    expect(reach.fetch).toHaveBeenCalledOnce();
    for (const spy of Object.values(reach)) spy.mockClear();
  });

  test.each(HOSTILE)('changes no fact, no shape of the output, and reaches nothing: %j', async (passage) => {
    const clean = await analyze(CONTRACT);
    expect(clean.facts.length).toBeGreaterThan(0);
    for (const text of [`${passage}\n\n${CONTRACT}`, `${CONTRACT}\n\n${passage}`]) {
      const { facts, output } = await analyze(text);
      expect(facts).toEqual(clean.facts);
      // The next step gets what the contract names, and nothing the document asks for.
      expect(Object.keys(output)).toEqual(['analysis']);
      expect(keysOf(output)).toEqual(keysOf(clean.output));
    }
  });
});

/** Every key at any depth, apart from those of the passages shown to the reader. */
function keysOf(output: object): string {
  const keys = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, child] of Object.entries(value)) {
      if (!Array.isArray(value)) keys.add(key);
      visit(child);
    }
  };
  visit(output);
  return canonicalJson([...keys].sort());
}
