import type { Language } from './schemas.ts';

const SAMPLE = 200_000;

/** The language the report is written in: the one in which more of the contract is. */
export function detectLanguage(text: string): Language {
  const sample = text.slice(0, SAMPLE);
  const chinese = sample.match(/[\u4e00-\u9fff]/g)?.length ?? 0;
  const latin = sample.match(/[a-z]/gi)?.length ?? 0;
  // One Chinese character says about as much as three letters.
  return chinese * 3 > latin ? 'zh' : 'en';
}
