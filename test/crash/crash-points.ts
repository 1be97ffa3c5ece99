// The failpoints of a save, a rewind, an undo, and an undo of a step.
import { isLong } from '../support/test-budget.js'

export type Operation = 'save' | 'save-many' | 'rewind' | 'undo' | 'undo-step'

/** An undo works like a rewind, so only the long run kills it at later visits. */
const AGAIN = isLong ? 3 : 1

/** How many visits of each failpoint are killed. A visit that does not happen fails the test. */
export const POINTS: Readonly<Record<Operation, Readonly<Record<string, number>>>> = {
  save: {
    'capture:hashed': 1,
    'loose:written': 1,
    'loose:named': 3,
    'capture:stored': 1,
    'save:captured': 1,
    'record:commit-written': 1,
    'record:ref-written': 1,
    'save:before-row': 1,
    'save:after-row': 1,
  },
  'save-many': { 'pack:written': 1, 'pack:named': 1, 'capture:stored': 1 },
  rewind: {
    'capture:hashed': 2,
    'loose:written': 3,
    'loose:named': 1,
    'capture:stored': 2,
    'record:commit-written': 2,
    'record:ref-written': 2,
    'save:before-row': 1,
    'save:after-row': 1,
    'restore:safety-made': 1,
    'restore:journaled': 1,
    'apply:folder': 3,
    'apply:staged': 1,
    'apply:aside': 2,
    'apply:remove': 3,
    'apply:removed': 1,
    'apply:place': 3,
    'apply:placed': 1,
    'apply:modes-set': 1,
    'restore:applied': 1,
    'asides:removed': 2,
    'restore:before-row': 1,
    'restore:after-row': 1,
    'restore:done': 1,
  },
  undo: {
    'capture:hashed': 2,
    'capture:stored': 2,
    'record:commit-written': 2,
    'record:ref-written': 2,
    'save:before-row': 1,
    'save:after-row': 1,
    'restore:safety-made': 1,
    'restore:journaled': 1,
    'apply:folder': AGAIN,
    'apply:staged': 1,
    'apply:aside': AGAIN,
    'apply:remove': AGAIN,
    'apply:removed': 1,
    'apply:place': AGAIN,
    'apply:placed': 1,
    'apply:modes-set': 1,
    'restore:applied': 1,
    'asides:removed': AGAIN,
    'restore:before-row': 1,
    'restore:after-row': 1,
    'restore:done': 1,
  },
  // The rest is as in a rewind.
  'undo-step': {
    'merge:written': 1,
    'restore:safety-made': 1,
    'restore:journaled': 1,
    'apply:placed': 1,
    'restore:before-row': 1,
    'restore:after-row': 1,
  },
}
