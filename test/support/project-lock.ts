// Holds the lock of the only project of a scratch store, as another process would.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from '../../src/system/index.js'
import type { Scratch } from './scratch.js'

export async function takeProjectLock({
  home,
}: Pick<Scratch, 'home'>): Promise<{ release(): void }> {
  const folder = join(home, 'locks')
  const [name, ...others] = readdirSync(folder).filter((file) => /^[b-z]{18}$/.test(file))
  if (name === undefined || others.length > 0) throw new Error('There is not exactly one project')
  const lock = await takeLock(join(folder, name), { waitMs: 10_000, purpose: 'test' })
  if (lock === undefined) throw new Error('The project is in use')
  return lock
}
