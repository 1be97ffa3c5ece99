// The driver for git repositories (docs/internals/shared.md#in-a-git-repository): `push`, `pull` and `handoff`. A lease does not
// expire, so there is no fleet.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { SavestateError } from '../../model/index.js'
import type { RemoteDriver } from '../driver.js'
import { parseGitUrl } from './git-url.js'
import { deleteLog, releaseLease, renewLeases, takeLease } from './leases.js'
import { headOf, sizeOf } from './log-manifest.js'
import { LogStore } from './log-store.js'
import { collectPacks, putPack, readPacks } from './packs.js'
import { initFormat, readFormat } from './remote-format.js'
import { logsOfKind } from './ref-names.js'
import { ScratchRepository } from './local-copy.js'
import { commitSegment, readSegments } from './segments.js'

export type GitOptions = {
  readonly url: string
  /** Has one bare repository per URL. Several processes may use it. */
  readonly folder: string
  /** A command ends if nothing arrives for so long. */
  readonly timeoutMs?: number | undefined
  readonly now?: (() => number) | undefined
}

const TIMEOUT_MS = 60_000

/** Contacts no one. */
export function openGit({
  url,
  folder,
  timeoutMs = TIMEOUT_MS,
  now = Date.now,
}: GitOptions): RemoteDriver {
  const target = parseGitUrl(url)
  const name = createHash('sha256').update(target.label).digest('hex').slice(0, 20)
  const gitDir = join(folder, `${name}.git`)
  const repository = new ScratchRepository({ gitDir, target, stallMs: timeoutMs })
  return driverOn(new LogStore(repository, now))
}

function driverOn(store: LogStore): RemoteDriver {
  const { repository } = store
  const { label } = repository.target
  return {
    kind: 'git',
    label,
    readFormat: () => readFormat(repository),
    init: (format) => initFormat(repository, format),

    async heads({ kind, withDeleted = false, limit }) {
      const { manifests, damaged } = await repository.withLock(async () => {
        await store.fetchAll(kind)
        return store.readAll(kind === undefined ? undefined : [logsOfKind(kind)])
      })
      const heads = manifests
        .filter(({ isDeleted }) => withDeleted || !isDeleted)
        .sort((a, b) => b.updatedAtMs - a.updatedAtMs)
        .slice(0, limit)
        .map(headOf)
      return [...heads, ...damaged]
    },

    async head(log) {
      const { manifest } = await repository.withLock(async () => {
        await store.fetch([log])
        return store.read(log)
      })
      return manifest === undefined ? undefined : headOf(manifest)
    },

    async sizes(log) {
      const manifests = await repository.withLock(async () => {
        if (log === undefined) {
          await store.fetchAll()
          return (await store.readAll()).manifests
        }
        await store.fetch([log])
        return [(await store.read(log)).manifest]
      })
      return manifests.flatMap((manifest) =>
        manifest === undefined || manifest.isDeleted ? [] : sizeOf(manifest),
      )
    },

    take: (request) => takeLease(store, request),
    claim: async () => {
      throw new SavestateError('BAD_INPUT', `${label}: a git repository has no claims`, {
        hint: 'Use a remote in PostgreSQL for fleets, or `savestate pull --take` for one session.',
      })
    },
    renew: (leases) => renewLeases(store, leases),
    release: (lease) => releaseLease(store, lease),
    commit: (commit) => commitSegment(store, commit),
    segments: (log, afterN) => readSegments(store, log, afterN),
    putPack: (pack, chunks) => putPack(store, pack, chunks),
    packs: (id, known) => readPacks(store, id, known),
    deleteLog: (log, fence) => deleteLog(store, log, fence),
    collectPacks: () => collectPacks(store),
    close: () => repository.close(),
  }
}
