import { describe, expect, it } from 'vitest';
import { SourceBreaker } from './breaker.ts';

function breaker() {
  let at = 0;
  const made = new SourceBreaker({ now: () => at, opensAfter: 3, firstMs: 1_000, maxMs: 4_000 });
  const call = (outcome: 'answered' | 'failed' | 'neither') => {
    const pass = made.enter();
    if ('end' in pass) pass.end(outcome);
    return 'end' in pass ? 'passed' : pass.retryAfterMs;
  };
  return {
    made,
    call,
    wait: (ms: number) => {
      at += ms;
    },
  };
}

describe('the breaker of a source', () => {
  it('opens after three failures in a row; an answer between them counts anew, giving up counts for nothing', () => {
    const { call, made } = breaker();
    for (const outcome of ['failed', 'failed', 'answered', 'failed', 'neither', 'failed'] as const) call(outcome);
    expect(made.isOpen).toBe(false);
    call('failed');
    expect(made.isOpen).toBe(true);
    expect(call('answered')).toBe(1_000);
  });

  it('lets one probe through when its time is over, and the others wait for it', () => {
    const { call, made, wait } = breaker();
    for (let n = 0; n < 3; n++) call('failed');
    wait(1_000);
    const probe = made.enter();
    expect(call('answered')).toEqual(500);
    if (!('end' in probe)) throw new Error('no probe');
    probe.end('answered');
    expect(made.isOpen).toBe(false);
    expect(call('answered')).toBe('passed');
  });

  it('stays open twice as long after each probe that fails, up to its most', () => {
    const { call, wait } = breaker();
    for (let n = 0; n < 3; n++) call('failed');
    for (const waited of [1_000, 2_000, 4_000, 4_000]) {
      expect(call('failed')).toBe(waited);
      wait(waited);
      expect(call('failed')).toBe('passed');
    }
  });

  it('takes another probe where the first one gave up', () => {
    const { call, wait } = breaker();
    for (let n = 0; n < 3; n++) call('failed');
    wait(1_000);
    expect(call('neither')).toBe('passed');
    expect(call('answered')).toBe('passed');
  });
});
