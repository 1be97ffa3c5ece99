/** Where a move of a project is killed, and whether it has happened then. */
export const MOVE_POINTS = { 'move:before-row': false, 'move:after-row': true } as const
