import { expect, it } from 'vitest';
import { embeddingsOf, followSpace, hashedEmbeddings, type KeptSpace } from '../index.ts';

const SETTINGS = { EMBEDDING_MODEL: 'hashed', EMBEDDING_DIMENSION: 384 };
const configured = hashedEmbeddings();
const wider = hashedEmbeddings({ dimension: 512 }).space;
const WIDER = { ...wider, space: wider.id };
const REMOTE = { space: 'small/2/cut-8000', model: 'small', dimension: 2 };
const OLDER = { space: 'hashed/384/words-0', model: 'hashed', dimension: 384 };
const kept = (active: KeptSpace) => [
  { ...active, state: 'active' },
  { ...configured.space, space: configured.space.id, state: 'retired' },
];

it('questions go to the space that is active, whatever was configured', async () => {
  const follow = followSpace(configured, SETTINGS, () => expect.unreachable());
  expect(await follow([])).toBe(configured);
  expect(await follow([{ ...WIDER, state: 'filling' }])).toBe(configured);
  const moved = await follow(kept(WIDER));
  expect(moved.space.id).toBe(WIDER.space);
  // One provider for all questions, those at once included.
  expect(await Promise.all([follow(kept(WIDER)), follow(kept(WIDER))])).toEqual([moved, moved]);
  expect(await follow([{ ...configured.space, space: configured.space.id, state: 'active' }])).toBe(configured);
});

it('where the settings do not reach that space, it is told once, and questions stay where they can be compared', async () => {
  const missed: string[] = [];
  const follow = followSpace(configured, SETTINGS, ({ space }) => missed.push(space));
  for (const space of [REMOTE, REMOTE, OLDER, REMOTE]) expect(await follow(kept(space))).toBe(configured);
  expect(missed).toEqual([REMOTE.space, OLDER.space]);
});

it('one that could not be made is not kept: the next question tries again', async () => {
  let fails = true;
  const follow = followSpace(configured, SETTINGS, () => {
    if (fails) throw new Error('in passing');
  });
  const both = await Promise.allSettled([follow(kept(OLDER)), follow(kept(OLDER))]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await follow(kept(OLDER))).toBe(configured);
});

it('another model is asked of the same server', async () => {
  const found = await embeddingsOf({ ...SETTINGS, EMBEDDING_URL: 'http://127.0.0.1:1/v1' }, REMOTE);
  expect(found?.space.id).toBe(REMOTE.space);
});
