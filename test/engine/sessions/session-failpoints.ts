/** On how many visits of each failpoint an operation of a session is killed; see session-failpoints.test.ts. */
export const SESSION_POINTS = {
  save: {
    'capture:hashed': 1,
    'capture:stored': 1,
    'save:captured': 1,
    'record:commit-written': 1,
    'record:ref-written': 1,
    'save:before-row': 1,
    'save:after-row': 1,
  },
  both: {
    'restore:safety-made': 1,
    'restore:journaled': 1,
    'apply:staged': 1,
    'apply:place': 1,
    'apply:placed': 1,
    'restore:applied': 1,
    'record:commit-written': 1,
    'record:ref-written': 1,
    'restore:before-row': 1,
    'restore:after-row': 1,
    'restore:done': 1,
  },
  state: { 'rewind-state:before-row': 1, 'rewind-state:after-row': 1 },
  tool: { 'tool:started': 1, 'tool:ran': 1, 'tool:confirmed': 1 },
} as const

export type SessionOperation = keyof typeof SESSION_POINTS
