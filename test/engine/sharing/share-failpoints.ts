// The steps of sharing at which a process can be killed, and the visits that the crash test kills at.

/** While a log is sent. Each visit is a call of the worker. */
export const SHIP_POINTS = {
  'share:packed': [1, 4, 9],
  'share:encoded': [1, 4, 9],
  'share:uploaded': [1, 5, 10],
  'share:sent': [1, 6, 11],
  'share:acked': [1, 7, 12],
} as const

/** While a session is brought to another host. */
export const RESUME_POINTS = {
  'share:applied': [1],
  'share:fetched': [1],
  'share:recorded': [1],
} as const

/** While steps that were not shared become a fork. */
export const SPLIT_POINTS = {
  'share:split': [1],
  'share:applied': [1],
} as const
