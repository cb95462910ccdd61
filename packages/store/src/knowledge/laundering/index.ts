export { findArchived } from '../find-fact-states.ts';
export { endArchives, insertArchived, type NewArchived } from './archive.ts';
export { type FoundFindings, findLaunderable, type LaunderBounds } from './findings.ts';
export { measureMemory } from './measures.ts';
export { insertReport, listReports } from './reports.ts';
export {
  countRecentRevisions,
  type Duty,
  endTurn,
  findKnowledgeTenants,
  maintainIndexes,
  readClock,
  takeTurn,
} from './timetable.ts';
