/** What a daemon may carry out for others; that it is really for it, is looked at in served.ts. */
export const SERVED_NAMES = [
  'save',
  'list',
  'show',
  'diff',
  'rewind',
  'undo',
  'redo',
  'sessions',
  'pin',
  'unpin',
  'name',
  'status',
  'hook',
] as const
