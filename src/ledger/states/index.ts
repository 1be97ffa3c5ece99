export { StateMemory } from './stored-view.js'
export { type Figures, StateStore, type StateSummary } from './state-store.js'
export { readStateGraph, stateRoot } from './state-graph.js'
export { STATE_TABLES } from './tables.js'
export { bytesOfStates, type CollectedStates, collectStates } from './collect.js'
export { type Element, elementPlace, hashOf, openElement, SEALED } from './element-rows.js'
export { sealOf, withSeal } from './node-body.js'
export { nodePlace } from './node-rows.js'
export { bodyPlace, openBody } from './read-state.js'
export {
  parseBody,
  referencesIn,
  referencesText,
  SEALED_BODY,
  sealedBodyText,
} from './state-body.js'
export { type StateFault, stateFaults } from './check.js'
