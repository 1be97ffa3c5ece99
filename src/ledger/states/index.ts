export { StateMemory } from './state-memory.js'
export { type Figures, StateStore, type StateSummary } from './state-store.js'
export { STATE_TABLES } from './tables.js'
export { type CollectedStates, collectStates } from './collect.js'
