export { StateMemory } from './stored-view.js'
export { StateStore } from './state-store.js'
export { readStateGraph, stateGraphId } from './gc/state-graph.js'
export { STATE_TABLES } from './tables.js'
export { bytesOfStates, type CollectedStates, collectStates } from './gc/collect.js'
export {
  elementContext,
  hashElement,
  openElement,
  SEALED,
} from './tree/element-rows.js'
export { parseSeal, addSeal } from './tree/node-body.js'
export { nodeContext } from './tree/node-rows.js'
export { bodyContext, openBody } from './read-state.js'
export {
  parseBody,
  collectReferences,
  referencesText,
  sealedBodyText,
} from './state-body.js'
export { findStateFaults, type StateFault } from './gc/check.js'
