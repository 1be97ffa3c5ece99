// Hosts that share a git repository. Each has a copy of its own, as different machines have.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { openRemote, type Remote } from '../../../src/remote/index.js'
import type { GitServer } from '../../support/git-server/git-servers.js'
import { describeRemote, type RemoteKindUnderTest } from '../../support/remote/remote-contract.js'

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'savestate-git-remote-'))
}

export function describeGit(
  name: string,
  serve: () => Promise<GitServer>,
  variants: NonNullable<RemoteKindUnderTest['variants']>,
): void {
  describeRemote({
    name,
    isFleet: false,
    variants,
    async createPlace() {
      const server = await serve()
      const folders: string[] = []
      return {
        open(key) {
          const folder = temporaryFolder()
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
}

export type OpenOptions = {
  readonly url?: string
  /** Two processes of one machine have the same. */
  readonly folder?: string
  readonly key?: Uint8Array
  readonly timeoutMs?: number
}

/** Servers and clients of one test; closed after it. */
export function gitHosts() {
  const clients: Remote[] = []
  const servers: GitServer[] = []
  const folders: string[] = []
  const addFolder = () => {
    const folder = temporaryFolder()
    folders.push(folder)
    return folder
  }
  const open = async (server: Pick<GitServer, 'url'>, options: OpenOptions = {}) => {
    const { folder = addFolder(), url = server.url, ...rest } = options
    const remote = await openRemote({ url, folder, ...rest })
    clients.push(remote)
    return remote
  }
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close()
    for (const server of servers.splice(0)) await server.close()
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
  })
  return {
    addFolder,
    open,
    async serve(start: () => Promise<GitServer>) {
      const server = await start()
      servers.push(server)
      return server
    },
    /** A remote that was created, and a first client. */
    async start(serve: () => Promise<GitServer>, options: OpenOptions = {}) {
      const server = await serve()
      servers.push(server)
      const remote = await open(server, options)
      await remote.init()
      await remote.id()
      return { server, remote }
    },
    async join(server: GitServer, options: OpenOptions = {}) {
      const remote = await open(server, options)
      await remote.id()
      return remote
    },
  }
}
