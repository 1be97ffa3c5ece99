/** Failpoints of a project's move, and whether it has happened after a kill there. */
export const MOVE_POINTS = { 'move:before-row': false, 'move:after-row': true } as const
