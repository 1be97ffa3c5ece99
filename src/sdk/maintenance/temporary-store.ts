// A store for one call, in the folder of the real one: removed at the end.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type OpenContext, openContext } from '../opening/open-context.js'

/** Has the settings of the store, and no key and no remote. */
export async function withTemporaryStore<Result>(
  home: string,
  work: (scratch: OpenContext) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(home, 'temporary-'))
  try {
    const settings = join(home, 'config.json')
    if (existsSync(settings)) copyFileSync(settings, join(folder, 'config.json'))
    const encryption = { key: randomBytes(32) }
    const given = { durability: 'process', encryption, remote: false } as const
    const context = await openContext({ home: folder, ...given })
    try {
      return await work(context)
    } finally {
      await context.snapshots.close()
      context.objects.close()
      context.ledger.close({ tidy: false })
      context.use.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
