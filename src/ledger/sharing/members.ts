// Which checkpoints belong to a log: those of a session, or those of a project that belong to no session.
import type { LogRow } from './logs.js'

/** The id of the log of a checkpoint without a session; `it` is a row of `checkpoints`. */
export function logOfSave(it: string): string {
  return `coalesce(${it}.project_log, ${it}.project)`
}

/** A condition on a row of `checkpoints`. `?1` is the owner of the log. */
export function isMember({ log }: Pick<LogRow, 'log'>, it: string): string {
  return log.kind === 'project' ? isSave(it) : `${it}.session = ?1`
}

/** The same for a project. The column `project` leads to the index. */
export function isSave(it: string): string {
  return `${it}.session IS NULL AND ${it}.project = (SELECT project FROM project_logs WHERE key = ?1)
    AND ${logOfSave(it)} = (SELECT id FROM project_logs WHERE key = ?1)`
}
