export { type GatedMemories, gateMemories } from './gate-memories.ts';
export { MEMORY_KINDS, type MemoryRefusal, type PickedMemory, type SaidItem } from './memory.ts';
export { pickMemories } from './pick-memories.ts';
export { findSentenceEnds, splitSentences } from './sentences.ts';
