import { join } from 'node:path';
import { checkoutRoot } from '@cleanslate/infra';

export type DemoLanguage = 'en' | 'zh';

export function sampleContract(language: DemoLanguage): string {
  return join(checkoutRoot, 'infra', 'samples', `contract-${language}.md`);
}

export function samplePolicies(language: DemoLanguage): string {
  return join(checkoutRoot, 'infra', 'samples', `policies-${language}.yaml`);
}

/** By its script: a contract in Chinese has far more Han characters than Latin words. */
export function guessLanguage(text: string): DemoLanguage {
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  const words = text.match(/[A-Za-z]{2,}/g)?.length ?? 0;
  return han > words ? 'zh' : 'en';
}
