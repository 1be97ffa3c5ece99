// The built saver against LangGraph's own suite.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runConformance } from './conformance-suite.js'
import { type Saver, SavestateSaver } from './saver.js'

const homes = new Map<Saver, string>()

runConformance({
  name: 'SavestateSaver',
  async makeSaver() {
    const home = mkdtempSync(join(tmpdir(), 'savestate-test-'))
    const saver = await SavestateSaver.open({ home, durability: 'os', mayBlock: true })
    homes.set(saver, home)
    return saver
  },
  async destroySaver(saver) {
    await saver.close()
    rmSync(homes.get(saver) ?? '', { recursive: true })
    homes.delete(saver)
  },
})
