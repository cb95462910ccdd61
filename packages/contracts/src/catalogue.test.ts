import { expect, it } from 'vitest';
import { Envelope, MESSAGES, typeOf } from './index.ts';

it.each(MESSAGES.map(typeOf))('%s is a type that the envelope takes', (type) => {
  expect(Envelope.shape.type.safeParse(type).error?.issues).toBeUndefined();
});
