// Two stores in empty homes: one that writes a session, and one that takes it over. Their ledgers are second connections to the same
// files, as those of another process would be.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore, type Store } from '../../../src/index.js'
import { Ledger, SealingKey } from '../../../src/ledger/index.js'

export type Home = {
  readonly path: string
  readonly store: Store
  readonly ledger: Ledger
}

export type TwoHomes = AsyncDisposable & { readonly a: Home; readonly b: Home }

export type HomeKeys = { readonly a?: string; readonly b?: string }

/** Keys in hexadecimal. */
export async function twoHomes(keys: HomeKeys = {}): Promise<TwoHomes> {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-homes-'))
  const [a, b] = [
    await openHome(join(folder, 'a'), keys.a),
    await openHome(join(folder, 'b'), keys.b),
  ]
  return {
    a,
    b,
    async [Symbol.asyncDispose]() {
      for (const { store, ledger } of [a, b]) {
        ledger.close()
        await store.close()
      }
      rmSync(folder, { recursive: true })
    },
  }
}

async function openHome(path: string, key: string | undefined): Promise<Home> {
  const store = await openStore({
    home: path,
    durability: 'process',
    inProcess: true,
    shortLived: true,
    ...(key !== undefined && { encryption: { key } }),
  })
  const keys = key === undefined ? {} : { key: new SealingKey(Buffer.from(key, 'hex')) }
  return { path, store, ledger: Ledger.open(path, { durability: 'process', keys }) }
}
