import type { SkipReason } from '../../index.js'
import { command } from '../command.js'
import { counted, grouped, lines } from '../figures.js'
import { relativeTime } from '../relative-time.js'
import { shortIdOf } from '../short-id.js'

/** What a person would expect to be saved. */
const SURPRISING: readonly (readonly [SkipReason, string])[] = [
  ['too-large', 'too large'],
  ['unreadable', 'unreadable'],
  ['unstable', 'kept changing'],
  ['reserved', 'with a name that git cannot hold'],
  ['special', 'neither file nor folder'],
]

export const run = command({
  async call({ project, options, hooks }) {
    const [reason, name] = [options.text('m'), options.text('name')]
    return (await project()).save(
      { ...(reason === undefined ? {} : { reason }), ...(name === undefined ? {} : { name }) },
      hooks,
    )
  },
  async render(result, request) {
    const id = await shortIdOf(await request.project(), result.id)
    if (!result.created)
      return `Nothing changed since ${id} (${relativeTime(result.createdAt, request.screen.now)}).`
    return `Saved ${id}: ${counted(result.files, 'file')} changed, ${lines(result)}.`
  },
  async note({ id, created, skippedByReason }, { project, screen }) {
    if (!created) return undefined
    const counts = SURPRISING.flatMap(([reason, words]) => {
      const count = skippedByReason[reason] ?? 0
      return count === 0 ? [] : [{ count, text: `${grouped(count)} ${words}` }]
    })
    if (counts.length === 0) return undefined
    const total = counts.reduce((sum, { count }) => sum + count, 0)
    const reasons = counts.map(({ text }) => text).join(', ')
    const warning = `${counted(total, 'path')} could not be saved: ${reasons}.`
    const short = await shortIdOf(await project(), id)
    return `${screen.paintNote('yellow', warning)} See: savestate show ${short}`
  },
})
