// Runs LangGraph's own suite against a saver whose store has a remote.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRemote } from '../../src/remote/index.js'
import { createDatabase, type TestDatabase } from '../support/postgres/index.js'
import { runConformance } from './conformance-suite.js'
import { type Saver, SavestateSaver } from './saver.js'

const places = new Map<Saver, { readonly home: string; readonly database: TestDatabase }>()
const key = 'c3'.repeat(32)

runConformance({
  name: 'SavestateSaver with a remote, encrypted',
  async makeSaver() {
    const database = await createDatabase()
    const remote = await openRemote({ url: database.url, key: Buffer.from(key, 'hex') })
    await remote.init()
    await remote.close()
    const home = mkdtempSync(join(tmpdir(), 'savestate-test-'))
    const saver = await SavestateSaver.open({
      home,
      durability: 'process',
      inProcess: true,
      remote: { url: database.url, key },
    })
    places.set(saver, { home, database })
    return saver
  },
  async destroySaver(saver) {
    await saver.close()
    const place = places.get(saver)
    places.delete(saver)
    rmSync(place?.home ?? '', { recursive: true })
    await place?.database.dispose()
  },
})
