import { AppError } from '@cleanslate/contracts';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';

const MAX_YAML_BYTES = 1024 * 1024;
const MAX_DEPTH = 12;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

type Path = readonly (string | number)[];

/** A YAML text read without anchors, tags or surprises. */
export type ReadYaml = {
  readonly value: unknown;
  /** An `INVALID_INPUT` that names file, line and field. */
  fault(path: Path, what: string, remedy: string): AppError;
};

function yamlFault(file: string, line: number | undefined, field: string, what: string, remedy: string): AppError {
  const place = line === undefined ? file : `${file}:${line}`;
  const where = field === '' ? place : `${place} (${field})`;
  return new AppError('INVALID_INPUT', `${where}: ${what}: ${remedy}`, { details: { where, remedy, field } });
}

/**
 * What the file is, for its errors: `{ holds: 'one policy set', needs: 'policySet and facts' }`. `split`: how to split
 * one that is too large.
 */
type Purpose = { readonly holds: string; readonly needs: string; readonly split?: string };

/**
 * Throws `INVALID_INPUT` for anything but a plain YAML document (JSON is one). Numbers and booleans arrive as their
 * literal text.
 */
export function readYaml(given: string | Uint8Array, file: string, purpose: Purpose): ReadYaml {
  const text = toText(given, file, purpose);
  const lines = new LineCounter();
  const document = parse(text, lines, file, purpose);
  const lineOf = (node: unknown) => {
    const start = isNode(node) ? node.range?.[0] : undefined;
    return start === undefined ? undefined : lines.linePos(start).line;
  };
  const refuse = (node: unknown, path: Path, what: string, remedy: string): AppError =>
    yamlFault(file, lineOf(node), path.join('.'), what, remedy);
  visit(document, {
    Alias: (_key, node) => {
      throw refuse(node, [], 'an alias (`*name`) is used in place of a value', 'write the value out');
    },
  });
  return {
    value: toValue(document.contents, [], refuse),
    fault: (path, what, remedy) => refuse(findNode(document, path), path, what, remedy),
  };
}

function toText(given: string | Uint8Array, file: string, { needs, split = 'split it' }: Purpose): string {
  const bytes = typeof given === 'string' ? Buffer.byteLength(given) : given.length;
  if (bytes > MAX_YAML_BYTES)
    throw yamlFault(file, undefined, '', `has ${bytes} bytes, at most ${MAX_YAML_BYTES} are read`, split);
  const text = typeof given === 'string' ? given : decode(given, file);
  const nul = text.indexOf('\0');
  if (nul !== -1)
    throw yamlFault(
      file,
      text.slice(0, nul).split('\n').length,
      '',
      'it holds a NUL character',
      'save it as plain UTF-8 text',
    );
  if (!text.isWellFormed())
    throw yamlFault(file, undefined, '', 'it holds half a surrogate pair', 'save it as UTF-8 text');
  if (text.trim() === '') throw yamlFault(file, undefined, '', 'it is empty', `write ${needs}`);
  return text;
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw yamlFault(file, undefined, '', 'it is not UTF-8', 'save it as UTF-8 text');
  }
}

function parse(text: string, lineCounter: LineCounter, file: string, { holds }: Purpose): Document.Parsed {
  let document: Document.Parsed;
  try {
    document = parseDocument(text, {
      lineCounter,
      prettyErrors: false,
      // "silent" would drop whatever follows a second `---` without a word.
      logLevel: 'error',
      merge: false,
      uniqueKeys: false,
    });
  } catch (error) {
    // A stack overflow of the parser, for example.
    throw yamlFault(file, undefined, '', `it can't be read (${String(error).slice(0, 100)})`, 'flatten it');
  }
  const problem = [...document.errors, ...document.warnings][0];
  if (problem === undefined) return document;
  const { line } = lineCounter.linePos(problem.pos[0]);
  if (problem.code === 'MULTIPLE_DOCS')
    throw yamlFault(file, line, '', 'a second document begins', `write ${holds} a file, and remove this \`---\``);
  throw yamlFault(file, line, '', problem.message.split('\n')[0] ?? 'no YAML', 'correct the YAML there');
}

type Refuse = (node: unknown, path: Path, what: string, remedy: string) => AppError;

/** Numbers and booleans keep their text as written: 000001 is a code, and no digit may be lost. */
function toValue(node: unknown, path: Path, refuse: Refuse): unknown {
  if (path.length > MAX_DEPTH) throw refuse(node, [], `nested deeper than ${MAX_DEPTH} levels`, 'flatten it');
  if (node === null) return null;
  if (isSeq(node)) return node.items.map((item, index) => toValue(item, [...path, index], refuse));
  if (isMap(node)) {
    // The parser's own check for repeated keys takes quadratic time.
    const seen = new Set<string>();
    const entries = node.items.map(({ key, value }) => {
      const name = isScalar(key) && typeof key.value === 'string' ? key.value : undefined;
      if (name === undefined) throw refuse(key, path, 'a key is not plain text', 'write plain names');
      if (FORBIDDEN_KEYS.has(name)) throw refuse(key, [...path, name], `the key "${name}" is not allowed`, 'remove it');
      if (seen.has(name)) throw refuse(key, [...path, name], 'the key stands there twice', 'remove one of the two');
      seen.add(name);
      return [name, toValue(value, [...path, name], refuse)] as const;
    });
    return Object.fromEntries(entries);
  }
  if (!isScalar(node))
    throw refuse(node, path, 'this is neither text nor a list nor a map', 'write text, a list or a map');
  if (typeof node.value === 'string' && (node.value.includes('\0') || !node.value.isWellFormed()))
    throw refuse(node, path, 'the text holds a NUL character or half a surrogate pair', 'remove it');
  if (node.value === null || typeof node.value === 'string') return node.value;
  return node.source ?? String(node.value);
}

function findNode(document: Document.Parsed, path: Path): unknown {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node)) return node;
  }
  return undefined;
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value);
}
