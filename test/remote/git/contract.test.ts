// The contract of `Remote` on git repositories, over each transport. Every client is a host of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRemote } from '../../../src/remote/index.js'
import { GIT_SERVERS } from '../../support/git-server/git-servers.js'
import { describeRemote } from '../../support/remote/remote-contract.js'

for (const [name, serve] of Object.entries(GIT_SERVERS))
  describeRemote({
    name,
    isFleet: false,
    async createPlace() {
      const server = await serve()
      const folders: string[] = []
      return {
        open(key) {
          const folder = mkdtempSync(join(tmpdir(), 'savestate-git-remote-'))
          folders.push(folder)
          return openRemote({ url: server.url, folder, ...(key === undefined ? {} : { key }) })
        },
        async dispose() {
          await server.close()
          for (const folder of folders) rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  })
