import type { VerdictReason } from '@cleanslate/contracts';
import { clip } from './check.ts';
import { type Figure, figuresOf, isSameFigure } from './figure.ts';

/** What one part of a sentence is about, and the figures that may appear there. */
export interface FigureRole {
  readonly name: string;
  /** Words that begin this part. */
  readonly begins: RegExp;
  readonly support: readonly Figure[];
}

interface Part {
  readonly text: string;
  readonly role: FigureRole;
}

/** A sentence in parts: the first role applies until words of another begin. */
function partsOf(text: string, roles: readonly FigureRole[]): Part[] {
  const [first] = roles;
  if (first === undefined) return [];
  const cuts = roles
    .flatMap((role) => [...text.matchAll(role.begins)].map((match) => ({ at: match.index, role })))
    .sort((left, right) => left.at - right.at);
  const parts: Part[] = [];
  let from = { at: 0, role: first };
  for (const cut of [...cuts, { at: text.length, role: first }]) {
    if (cut.at > from.at) parts.push({ text: text.slice(from.at, cut.at), role: from.role });
    from = cut;
  }
  return parts;
}

/**
 * Does every figure belong where it is? "The term is 30 days; the policy asks for 45" is wrong if the contract says 45
 * and the policy 30, though both figures are in the evidence.
 */
export function checkRoles(
  claim: { readonly text: string; readonly path: string },
  roles: readonly FigureRole[],
): VerdictReason[] {
  return partsOf(claim.text, roles).flatMap(({ text, role }) =>
    figuresOf(text).flatMap((figure): VerdictReason[] => {
      const supports = (each: FigureRole) => each.support.some((evidence) => isSameFigure(figure, evidence));
      if (supports(role)) return [];
      const other = roles.find((each) => each !== role && supports(each));
      // The check of figures reports one that nothing supports.
      if (other === undefined) return [];
      return [
        {
          code: 'FIGURE_IN_OTHER_ROLE',
          path: claim.path,
          message: `«${clip(figure.text, 60)}» is said of ${role.name}, but it is what ${other.name} says.`,
          remedy: `State the figure of ${role.name} there: ${
            role.support
              .filter(({ derived }) => derived !== true)
              .slice(0, 4)
              .map(({ text: said }) => `«${clip(said, 40)}»`)
              .join(', ') || 'it has none'
          }.`,
        },
      ];
    }),
  );
}
