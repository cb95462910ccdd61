import type { Plan } from '@cleanslate/contracts';
import { invalid } from './invalid-plan.ts';

export function checkGrowth({ growth, steps, validation, gate }: Plan): void {
  if (growth === undefined) return;
  const template = steps.find((step) => step.key === growth.step);
  if (template === undefined) throw invalid(`growth.step names "${growth.step}", which the plan doesn't have`);
  const where = `step "${growth.step}" is what growth adds`;
  if (!template.after.includes(growth.from))
    throw invalid(`${where}: add "${growth.from}", which plans it, to its "after"`);
  if (template.join !== undefined || template.when !== undefined || template.compensate !== undefined)
    throw invalid(`${where}: it takes no "join", "when" or "compensate"`);
  const repeated = validation?.rework.find((key) => key === growth.step || key === growth.from);
  if (repeated !== undefined)
    throw invalid(`validation.rework names "${repeated}": what grew once isn't planned again`);
  if (validation?.step === growth.step || validation?.step === growth.from)
    throw invalid(`growth names the validation step "${validation.step}"`);
  if (gate?.after === growth.from)
    throw invalid(`gate.after names "${growth.from}": what it asks for has been added by then`);
}
