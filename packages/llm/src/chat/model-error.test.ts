import { describe, expect, test } from 'vitest';
import { readFault, toModelError } from './model-error.ts';

const errorOf = (message: string, prompt = 'the prompt') =>
  toModelError(readFault({ status: 400, message }), 'm', prompt);

describe('what is stored of a server’s words', () => {
  test('D22: an echo of 5 MB costs under 50 ms and leaves nothing of the prompt', () => {
    const prompt = `my key is sk-abcdefghijklmnop ${'and so on '.repeat(500_000)}`;
    const costs = Array.from({ length: 10 }, () => {
      const before = process.threadCpuUsage();
      const { message } = errorOf(`400 Invalid prompt: ${prompt}`, prompt);
      const { user, system } = process.threadCpuUsage(before);
      expect(message).toBe('model "m": status 400; its words repeat the prompt, and are left out');
      return user + system;
    });
    // The best of them, by this thread's own clock: what it takes, not what else the machine does meanwhile.
    expect(Math.min(...costs)).toBeLessThan(50_000);
  });

  test('words of its own are kept, short, and without what looks like a credential or a person', () => {
    expect(errorOf('top_p must be at most 1').message).toBe('model "m": status 400: top_p must be at most 1');
    expect(errorOf('x'.repeat(100_000)).message.length).toBeLessThan(400);
    expect(errorOf('contact ada.lovelace@example.com').message).not.toContain('lovelace');
  });

  test('why no server was reached is said; what a server calls its error in a stream is not', () => {
    const refused = new Error('Connection error.', {
      cause: new Error('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
    });
    const { message } = toModelError(readFault(refused), 'm', '');
    expect(message).toBe('model "m": no answer from its server: Connection error. (ECONNREFUSED)');
    const told = { message: 'broken', code: 'the prompt said sk-abcdefghijklmnop' };
    expect(toModelError(readFault(told), 'm', '').message).toBe('model "m": no answer from its server: broken');
  });

  test('the code is read even from a body that was cut', () => {
    const cut = { status: 400, message: '400 {"error":{"code":"context_length_exceeded","message":"your text was' };
    expect(toModelError(readFault(cut), 'm', '').code).toBe('MODEL_CONTEXT_TOO_LONG');
  });
});
