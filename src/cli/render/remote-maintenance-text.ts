// The results of `verify --remote` and `prune --remote` as text.
import type { PruneRemoteResult, VerifyRemoteResult } from '../../index.js'
import { printableLine } from '../terminal/escape.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import type { Screen } from '../terminal/screen.js'

export function verifyRemoteText(result: VerifyRemoteResult, { paint }: Screen): string {
  const { remote, sessions, threads, projects, segments, files, problems } = result
  const logs = [
    formatCount(sessions, 'session'),
    ...(threads === 0 ? [] : [formatCount(threads, 'thread')]),
    ...(projects === 0 ? [] : [`the other checkpoints of ${formatCount(projects, 'project')}`]),
  ].join(', ')
  const read = `${remote.name}: ${logs}, ${formatCount(segments, 'segment')} and the files of ${formatCount(files, 'checkpoint')} read`
  if (problems.length === 0) return `${read}: all is intact.`
  const lines = problems.map(({ id, checkpoint, message }) => {
    const where = checkpoint === null ? printableLine(id) : `${printableLine(id)}, ${checkpoint}`
    return paint('yellow', `${where}: ${printableLine(message)}`)
  })
  return [`${read}: ${formatCount(problems.length, 'problem')}.`, ...lines].join('\n')
}

export function pruneRemoteText(result: PruneRemoteResult): string {
  const { remote, checkpoints, deletedSessions, compacted, packs, packBytes, skipped } = result
  const done = [
    ...(checkpoints === 0 ? [] : [`${formatCount(checkpoints, 'checkpoint')} removed`]),
    ...(deletedSessions === 0 ? [] : [`${formatCount(deletedSessions, 'session')} deleted`]),
    ...(compacted === 0 ? [] : [`${formatCount(compacted, 'session')} compacted`]),
    ...(packs === 0 ? [] : [`${formatBytes(packBytes)} of files removed that no checkpoint needs`]),
  ]
  const inUse =
    skipped === 0 ? '' : ` ${formatCount(skipped, 'session')} in use stayed as they are.`
  const what = done.length === 0 ? 'nothing to remove' : done.join(', ')
  return `${remote.name}: ${what}.${inUse}`
}
