import { clearLegacy, type LegacyArchive, legacyArchives, storeHome } from '../../internal.js'
import { command, Declined } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { printable } from '../terminal/escape.js'

type Cleared = { readonly applied: boolean; readonly removed: readonly LegacyArchive[] }

export const run = command<Cleared>({
  async call(request) {
    const home = await storeHome()
    const legacy = await legacyArchives(home)
    const archives = legacy.map(
      ({ path, sizeBytes }) => `  ${printable(path)}  ${formatBytes(sizeBytes)}`,
    )
    const plan = ['This removes:', ...archives].join('\n')
    const isWanted =
      legacy.length === 0 ||
      request.options.has('force') ||
      (await confirmText(request, { plan, question: 'Remove them?' }))
    if (!isWanted) return new Declined({ applied: false, removed: [] })
    return { applied: true, ...(await clearLegacy(home)) }
  },
  render({ removed }) {
    if (removed.length === 0) return 'There are no archives of older stores.'
    const total = removed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    return `Removed ${formatCount(removed.length, 'archive')}: ${formatBytes(total)} freed.`
  },
})
