import type { VerdictReason } from '@cleanslate/contracts';
import { clip } from './check.ts';
import { derivedFigures, type Figure, figuresOf, isSameFigure } from './figure.ts';

export interface FigureClaim {
  readonly text: string;
  readonly path: string;
}

/** The figures that a claim may state: those of its evidence and what follows from them by a fixed conversion. */
export function supportOf(evidence: readonly string[], more: readonly Figure[] = []): Figure[] {
  const stated = [...evidence.flatMap(figuresOf), ...more];
  return [...stated, ...stated.flatMap(derivedFigures)];
}

function nearest(claim: Figure, support: readonly Figure[]): string {
  const alike = support.filter(({ unit }) => unit === claim.unit).map(({ text }) => `«${clip(text, 40)}»`);
  const shown = [...new Set(alike)].slice(0, 4).join(', ');
  return shown === '' ? 'The evidence states no figure of that kind.' : `The evidence states ${shown}.`;
}

/** Every figure of the claim must appear in its support with the same magnitude; one reason for each that does not. */
export function checkFigures(claim: FigureClaim, support: readonly Figure[]): VerdictReason[] {
  return figuresOf(claim.text)
    .filter((figure) => !support.some((evidence) => isSameFigure(figure, evidence)))
    .map((figure) => ({
      code: 'FIGURE_NOT_IN_EVIDENCE',
      path: claim.path,
      message: `The figure «${clip(figure.text, 60)}» (${figure.value} ${figure.unit}) is not in the evidence. ${nearest(figure, support)}`,
      remedy: 'State the figure as the quote or the cited fact has it, or cite the evidence it comes from.',
    }));
}
