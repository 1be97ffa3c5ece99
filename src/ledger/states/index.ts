export { StateMemory } from './stored-view.js'
export { type Figures, StateStore, type StateSummary } from './state-store.js'
export { readStateGraph, stateRoot } from './gc/state-graph.js'
export { STATE_TABLES } from './tables.js'
export { bytesOfStates, type CollectedStates, collectStates } from './gc/collect.js'
export { type Element, elementPlace, hashOf, openElement, SEALED } from './tree/element-rows.js'
export { sealOf, withSeal } from './tree/node-body.js'
export { nodePlace } from './tree/node-rows.js'
export { bodyPlace, openBody } from './read-state.js'
export {
  parseBody,
  referencesIn,
  referencesText,
  SEALED_BODY,
  sealedBodyText,
} from './state-body.js'
export { type StateFault, stateFaults } from './gc/check.js'
