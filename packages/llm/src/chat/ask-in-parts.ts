import { AppError, isAppError } from '@cleanslate/contracts';
import { addUsage, type DataBlock, type ModelAnswer, type ModelRequest, NO_USAGE } from './model.ts';
import { toJsonSchema } from './prompt.ts';
import { endOfTokens, estimateTokens } from './tokens.ts';

type Asker = {
  readonly isOffline: boolean;
  readonly promptTokens: number;
  ask<const T>(request: ModelRequest<T>): Promise<ModelAnswer<T>>;
};

/** Room for what each part says besides the data, the instructions and the schema. */
const FRAME_TOKENS = 500;
/** Size of a block's delimiters, and the longest id, title and source in them, in characters each. */
const BLOCK_TOKENS = 60;
const MAX_ATTRIBUTE = 300;
/** The least text in a part: with less of it a question makes no sense, and would be asked too often. */
const MIN_TEXT_TOKENS = 200;
const MAX_PARTS = 50;

/**
 * Asks about data that may be longer than the model's window: in parts, one after the other, whose answers `merge`
 * combines. If the server's window turns out to be smaller than configured, it asks once more in parts half as large.
 * Throws what `ask` throws, and `MODEL_CONTEXT_TOO_LONG` if the window holds too little of the data at once.
 */
export async function askInParts<T>(
  model: Asker,
  request: ModelRequest<T>,
  merge: (values: readonly T[]) => T,
): Promise<ModelAnswer<T>> {
  // The rule has no window.
  if (model.isOffline) return await model.ask(request);
  const said = request.instructions + JSON.stringify(toJsonSchema(request.output));
  const room = model.promptTokens - estimateTokens(said).high - FRAME_TOKENS;
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

/**
 * Blocks in groups that fit; one that is too long for a group is cut at the ends of its lines or sentences, or, if
 * there are none, between words or characters. Takes linear time. Throws `MODEL_CONTEXT_TOO_LONG` if a group would hold
 * next to nothing of it.
 */
export function splitBlocks(blocks: readonly DataBlock[], room: number): DataBlock[][] {
  const groups: DataBlock[][] = [];
  let left = 0;
  for (const piece of blocks.flatMap((block) => cutBlock(block, room))) {
    const size = frameOf(piece) + estimateTokens(piece.text).high;
    if (groups.length === 0 || size > left) {
      groups.push([]);
      left = room;
    }
    groups.at(-1)?.push(piece);
    left -= size;
  }
  return groups;
}

function frameOf({ id, title = '', source = '' }: DataBlock): number {
  const attributes = [id, title, source].map((text) => text.slice(0, MAX_ATTRIBUTE));
  return BLOCK_TOKENS + estimateTokens(attributes.join('')).high;
}

function cutBlock(block: DataBlock, room: number): DataBlock[] {
  const { text } = block;
  const textRoom = room - frameOf(block);
  if (endOfTokens(text, 0, textRoom) === text.length) return [block];
  if (textRoom < MIN_TEXT_TOKENS)
    throw new AppError(
      'MODEL_CONTEXT_TOO_LONG',
      `beside instructions, schema and answer the model's window holds ${Math.max(0, textRoom)} tokens of the data at once, and ${MIN_TEXT_TOKENS} are needed to ask in parts: shorten the instructions, or use a larger window (MODEL_CONTEXT_TOKENS)`,
    );
  const pieces: DataBlock[] = [];
  for (let start = 0; start < text.length; ) {
    const end = findCut(text, start, endOfTokens(text, start, textRoom));
    pieces.push({ ...block, text: text.slice(start, end) });
    start = end;
  }
  return pieces;
}

/** The last place up to `end` where a sentence ends; otherwise a word; otherwise `end`. */
function findCut(text: string, start: number, end: number): number {
  if (end === text.length) return end;
  for (const isOver of [isSentenceOver, isWordOver])
    for (let at = end; at > start; at--) if (isOver(text, at)) return at;
  return end;
}

/** A full stop in a number or a name ends nothing. */
function isSentenceOver(text: string, at: number): boolean {
  const last = text.charAt(at - 1);
  return '\n。！？'.includes(last) || ('.!?'.includes(last) && isWordOver(text, at + 1));
}

function isWordOver(text: string, at: number): boolean {
  return text.charCodeAt(at - 1) <= 32;
}
