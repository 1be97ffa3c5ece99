// The commit and the ref of a checkpoint. Commits have no parents, so that each checkpoint can be dropped independently. The ref
// protects the objects from garbage collection (I1).
import { closeSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type CheckpointId,
  hasCode,
  type ObjectId,
  parseCheckpointId,
  parseObjectId,
  parsePathText,
  parseProjectId,
  type ProjectId,
  printablePath,
  type BytePath,
  SavestateError,
} from '../../model/index.js'
import { syncFolder, writeAll } from '../../system/index.js'
import { syncFolders } from './loose.js'

const MAX_ATTEMPTS = 5

export type CommitMetadata = {
  readonly tree: ObjectId
  readonly project: ProjectId
  readonly projectPath: BytePath
  readonly checkpoint: CheckpointId
  readonly kind: string
  readonly reason: string | null
  readonly createdAtMs: number
}

export function encodeCommit(facts: CommitMetadata): Buffer {
  // Git has no times before 1970. The Savestate-Time line has the real one.
  const seconds = Math.max(0, Math.floor(facts.createdAtMs / 1000))
  const who = `Savestate <savestate@localhost> ${seconds} +0000`
  const text = [
    `tree ${facts.tree}`,
    `author ${who}`,
    `committer ${who}`,
    '',
    (facts.reason ?? facts.kind).trim() || facts.kind,
    '',
    `Savestate-Checkpoint: ${facts.checkpoint}`,
    `Savestate-Kind: ${facts.kind}`,
    `Savestate-Project: ${facts.project}`,
    `Savestate-Path: ${printablePath(facts.projectPath)}`,
    `Savestate-Time: ${new Date(facts.createdAtMs).toISOString()}`,
    '',
  ]
  return Buffer.from(text.join('\n'), 'utf8')
}

/** The metadata in one of our commits; undefined for any other commit. The reverse of `encodeCommit`, used if the ledger is lost. */
export function decodeCommit(content: Buffer): CommitMetadata | undefined {
  const text = content.toString('utf8')
  const match = FORM.exec(text)
  if (match === null) return undefined
  const [
    ,
    tree = '',
    subject = '',
    checkpoint = '',
    kind = '',
    project = '',
    path = '',
    time = '',
  ] = match
  try {
    return {
      tree: parseObjectId(tree),
      project: parseProjectId(project),
      projectPath: parsePathText(path),
      checkpoint: parseCheckpointId(checkpoint),
      kind,
      reason: subject === kind ? null : subject,
      createdAtMs: Date.parse(time),
    }
  } catch (error) {
    if (
      error instanceof TypeError ||
      (error instanceof SavestateError && error.code === 'BAD_INPUT')
    )
      return undefined
    throw error
  }
}

const FORM =
  /^tree ([0-9a-f]{40})\nauthor [^\n]*\ncommitter [^\n]*\n\n([^]*)\n\nSavestate-Checkpoint: (.+)\nSavestate-Kind: (.+)\nSavestate-Project: (.+)\nSavestate-Path: (.+)\nSavestate-Time: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)\n$/

export function refName(project: ProjectId, checkpoint: CheckpointId): string {
  return `refs/savestate/${project}/${checkpoint}`
}

/**
 * A ref that is being written: a complete temporary file, which the caller flushes through `fd` and then names. A new
 * checkpoint's ref has no competing writer, so it needs no lock, and no stale lock can remain.
 */
export class StagedRef {
  readonly fd: number
  readonly #temporary: string
  readonly #path: string

  constructor(
    gitDir: string,
    ref: {
      readonly name: string
      readonly commit: ObjectId
      readonly temporary: string
    },
  ) {
    this.#path = join(gitDir, ref.name)
    this.#temporary = ref.temporary
    this.fd = openSync(ref.temporary, 'w', 0o600)
    try {
      writeAll(this.fd, Buffer.from(`${ref.commit}\n`))
    } catch (error) {
      this.abandon()
      throw error
    }
  }

  /** Call this once the commit and the file are flushed. Gives the file its name; with `durable` the name is flushed too. */
  async name({ durable }: { readonly durable: boolean }): Promise<void> {
    closeSync(this.fd)
    const folder = dirname(this.#path)
    // A garbage collection packs refs, and git removes empty folders: retry.
    for (let attempt = 1; ; attempt += 1) {
      try {
        renameSync(this.#temporary, this.#path)
        break
      } catch (error) {
        if (!hasCode(error, 'ENOENT') || attempt === MAX_ATTEMPTS) throw error
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        if (durable) syncFolder(dirname(folder))
      }
    }
    if (durable) await syncFolders([folder])
  }

  abandon(): void {
    closeSync(this.fd)
    rmSync(this.#temporary, { force: true })
  }
}
