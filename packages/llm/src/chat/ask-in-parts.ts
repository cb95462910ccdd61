import { AppError, isAppError } from '@cleanslate/contracts';
import { addUsage, type DataBlock, type ModelAnswer, type ModelRequest, NO_USAGE } from './model.ts';
import { estimateTokens } from './tokens.ts';

type Asker = {
  readonly isOffline: boolean;
  readonly promptTokens: number;
  ask<const T>(request: ModelRequest<T>): Promise<ModelAnswer<T>>;
};

/** Said in each part beside the data: instructions, schema, delimiters. */
const FRAME_TOKENS = 500;
const MAX_PARTS = 50;

/**
 * Asks about data that may be longer than the model's window: in parts, one after the other, whose answers `merge` puts together. Where the server's window turns out to be smaller than
 * configured, once more in parts half as large. Throws what `ask` throws.
 */
export async function askInParts<T>(
  model: Asker,
  request: ModelRequest<T>,
  merge: (values: readonly T[]) => T,
): Promise<ModelAnswer<T>> {
  // The rule knows no window.
  if (model.isOffline) return await model.ask(request);
  const room = model.promptTokens - estimateTokens(request.instructions).high - FRAME_TOKENS;
  try {
    return await askEach(model, request, room, merge);
  } catch (error) {
    if (!isAppError(error) || error.code !== 'MODEL_CONTEXT_TOO_LONG') throw error;
    return await askEach(model, request, Math.floor(room / 2), merge);
  }
}

async function askEach<T>(
  model: Asker,
  request: ModelRequest<T>,
  room: number,
  merge: (values: readonly T[]) => T,
): Promise<ModelAnswer<T>> {
  const parts = splitBlocks(request.data, room);
  if (parts.length > MAX_PARTS)
    throw new AppError(
      'MODEL_CONTEXT_TOO_LONG',
      `the data makes ${parts.length} parts for this model's window; at most ${MAX_PARTS} are asked`,
    );
  const answers: ModelAnswer<T>[] = [];
  for (const data of parts) answers.push(await model.ask({ ...request, data }));
  const [first] = answers;
  if (first === undefined || answers.length === 1) return first ?? (await model.ask(request));
  return {
    ...first,
    value: merge(answers.map(({ value }) => value)),
    usage: answers.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
  };
}

/** Blocks in groups that fit; one too long for a group is cut at the ends of its lines or sentences. */
export function splitBlocks(blocks: readonly DataBlock[], room: number): DataBlock[][] {
  const groups: DataBlock[][] = [];
  let left = 0;
  for (const piece of blocks.flatMap((block) => cutBlock(block, room))) {
    const size = estimateTokens(`${piece.title ?? ''}${piece.text}`).high;
    if (groups.length === 0 || size > left) {
      groups.push([]);
      left = room;
    }
    groups.at(-1)?.push(piece);
    left -= size;
  }
  return groups;
}

function cutBlock(block: DataBlock, room: number): DataBlock[] {
  if (estimateTokens(`${block.title ?? ''}${block.text}`).high <= room) return [block];
  const pieces: string[] = [];
  let piece = '';
  for (const line of block.text.match(/[^\n。.!?！？]*[\n。.!?！？]+|[^\n。.!?！？]+$/gu) ?? []) {
    for (const part of cutLine(line, room)) {
      if (piece !== '' && estimateTokens((block.title ?? '') + piece + part).high > room) {
        pieces.push(piece);
        piece = '';
      }
      piece += part;
    }
  }
  return [...pieces, piece].filter((text) => text !== '').map((text) => ({ ...block, text }));
}

/** A line that no window holds: cut between characters. */
function cutLine(line: string, room: number): string[] {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > 1 && estimateTokens(rest).high > room) {
    const share = Math.max(1, Math.floor((rest.length * room * 0.9) / estimateTokens(rest).high));
    const end = /[\ud800-\udbff]/.test(rest[share - 1] ?? '') ? share + 1 : share;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...parts, rest];
}
