import type { DocumentError } from './document.ts';

/** Why a file can't be read, thrown by a parser. */
export class DocumentFault extends Error {
  readonly code: DocumentError['code'];
  readonly remedy: string;

  constructor(code: DocumentError['code'], message: string, remedy: string) {
    super(message);
    this.name = 'DocumentFault';
    this.code = code;
    this.remedy = remedy;
  }
}
