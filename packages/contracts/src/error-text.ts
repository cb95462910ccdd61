import type { ErrorBody } from './errors.ts';

/** An error's parts for a reader that shows each separately: a message says all of them in one line. */
export type ErrorText = {
  readonly what: string;
  /** Option, argument, file or field, if the error names it separately. */
  readonly where: string | undefined;
  /** What to do about it, if the error says it separately. */
  readonly remedy: string | undefined;
};

export function toErrorText({ message, details }: Pick<ErrorBody, 'message' | 'details'>): ErrorText {
  const [where, remedy] = [textOf(details?.['where']), textOf(details?.['remedy'])];
  const head = where !== undefined && message.startsWith(`${where}: `) ? message.slice(where.length + 2) : message;
  const what = remedy !== undefined && head.endsWith(`: ${remedy}`) ? head.slice(0, -remedy.length - 2) : head;
  return { what, where, remedy };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
