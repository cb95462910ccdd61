import { AppError, type ErrorCode } from '@cleanslate/contracts';

export type InputProblem = {
  readonly code?: ErrorCode;
  /** What was wrong. */
  readonly what: string;
  /** Option, argument, file or field. */
  readonly where: string;
  /** What to do about it. */
  readonly remedy: string;
};

/** Bad usage or input, found before anything was sent. */
export function inputError({ code = 'INVALID_INPUT', what, where, remedy }: InputProblem, cause?: unknown): AppError {
  return new AppError(code, what, { details: { where, remedy }, ...(cause === undefined ? {} : { cause }) });
}
