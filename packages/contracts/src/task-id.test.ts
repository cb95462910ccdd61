import { describe, expect, it } from 'vitest';
import { TaskId, taskIdFromKey } from './index.ts';

describe('taskIdFromKey', () => {
  it('gives the UUIDv5 that other languages compute', () => {
    // python3 -c "import uuid; print(uuid.uuid5(uuid.UUID('5c1f6a52-3f0e-5b7c-9d0a-6e1b8f4c2d37'), 'demo/order-1'))"
    expect(taskIdFromKey('demo', 'order-1')).toBe('73eb03e2-eacb-52e9-ab3c-b32025825b47');
    expect(taskIdFromKey('demo', '合同-1')).toBe('1cb3f4bc-53f6-5c85-9fcd-4b6c7b154d8a');
  });

  it('is a task id, and another one for another tenant or key', () => {
    expect(TaskId.safeParse(taskIdFromKey('a', 'k')).success).toBe(true);
    expect(
      new Set(
        [
          ['a', 'k'],
          ['b', 'k'],
          ['a', 'l'],
        ].map(([t = '', k = '']) => taskIdFromKey(t, k)),
      ).size,
    ).toBe(3);
  });
});
