const SAMPLE = 300_000;
const PERSONNEL = /\b(?:executive|employee|employment|severance|salary)\b/gi;

/**
 * Is this an agreement about a person's work? What it pays within so many days is pay, severance or expenses, so only a
 * sentence that bills something sets a payment term there. Of 32 filings, such agreements use these words 8 to 66
 * times per thousand words, all others at most twice.
 */
export function isEmploymentAgreement(text: string): boolean {
  const sample = text.slice(0, SAMPLE);
  if (/劳动合同|聘用合同|劳务派遣|竞业限制协议/.test(sample.slice(0, 400))) return true;
  const named = sample.match(PERSONNEL)?.length ?? 0;
  const words = sample.match(/\b[a-z]+\b/gi)?.length ?? 0;
  return named >= 5 && named * 1000 > words * 5;
}
