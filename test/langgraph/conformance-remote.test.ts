// LangGraph's own suite against savers with a remote. All share one database, with a schema for each saver: none may see the threads of
// another.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/postgres/index.js'
import { runConformance } from './conformance-suite.js'
import { type Saver, SavestateSaver } from './saver.js'

const homes = new Map<Saver, string>()
let database: TestDatabase
let savers = 0

beforeAll(async () => {
  database = await createDatabase()
})

afterAll(() => database.dispose())

const key = Buffer.alloc(32, 7)

runConformance({
  name: 'SavestateSaver on a remote, encrypted',
  async makeSaver() {
    savers += 1
    const remote = {
      url: `${database.url}?schema=saver_${savers}`,
      key,
    }
    const home = mkdtempSync(join(tmpdir(), 'savestate-test-'))
    const options = { home, durability: 'process', inProcess: true, remote } as const
    const saver = await SavestateSaver.open(options)
    await saver.setup()
    homes.set(saver, home)
    return saver
  },
  async destroySaver(saver) {
    await saver.close()
    rmSync(homes.get(saver) ?? '', { recursive: true })
    homes.delete(saver)
  },
})
