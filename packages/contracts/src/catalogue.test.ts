import { expect, it } from 'vitest';
import { Envelope, listMessages, typeOf } from './index.ts';

it.each(listMessages().map(typeOf))('%s is a type that the envelope takes', (type) => {
  expect(Envelope.shape.type.safeParse(type).error?.issues).toBeUndefined();
});
