// Runs LangGraph's own suite against the built saver.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runConformance } from './conformance-suite.js'
import { type Saver, SavestateSaver } from './saver.js'

const homes = new Map<Saver, string>()

for (const encryption of [{}, { key: 'c3'.repeat(32) }])
  runConformance({
    name: `SavestateSaver, ${'key' in encryption ? 'encrypted' : 'plain'}`,
    async makeSaver() {
      const home = mkdtempSync(join(tmpdir(), 'savestate-test-'))
      const options = { home, durability: 'process', inProcess: true, encryption } as const
      const saver = await SavestateSaver.open(options)
      homes.set(saver, home)
      return saver
    },
    async destroySaver(saver) {
      await saver.close()
      rmSync(homes.get(saver) ?? '', { recursive: true })
      homes.delete(saver)
    },
  })
