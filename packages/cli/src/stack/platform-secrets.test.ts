import { expect, test } from 'vitest';
import { toPlatformSecrets } from './platform-secrets.ts';

const outside = {
  databaseUrl: 'postgres://postgres:x@db/cleanslate',
  embeddingApiKey: undefined,
  modelApiKey: undefined,
};
const secretsWith = (role: string) =>
  toPlatformSecrets({ nats: { [`worker-${role}`]: 'a-password-of-its-own' }, database: {}, apiKeys: {} }, outside).map(
    ({ name }) => name,
  );

test('a role of one’s own gets a Secret of its own', () => {
  const names = secretsWith('poet');
  expect(names).toContain('cleanslate-poet');
  expect(new Set(names).size).toBe(names.length);
});

test('a role whose Secret would be one of the platform’s is refused, by name and with what to do', () => {
  const platform = secretsWith('poet').flatMap((name) => /^cleanslate-(.+)/.exec(name)?.[1] ?? []);
  expect(platform).toEqual(
    expect.arrayContaining(['gateway', 'scheduler', 'knowledge-maintainer', 'migrate', 'topology']),
  );
  for (const role of platform) {
    const builtIn = ['planner', 'retriever', 'analyzer', 'generator', 'validator'].includes(role);
    if (builtIn || role === 'poet')
      expect(secretsWith(role).filter((name) => name === `cleanslate-${role}`)).toHaveLength(1);
    else expect(() => secretsWith(role)).toThrow(`"${role}" is a part of the platform`);
  }
});
