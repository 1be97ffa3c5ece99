// Hosts with stores of their own, and packs made by hand.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import {
  bytePath,
  type CheckpointId,
  DEFAULT_LIMITS,
  type Limits,
  type ObjectId,
  type Project,
  type ProjectId,
} from '../../../src/model/index.js'
import {
  decodeHead,
  encodeHead,
  HEAD_BYTES,
  PACK_END,
  type PackHead,
  PACK_START,
} from '../../../src/snapshot/bundles/envelope.js'
import { type PackBytes, Snapshots } from '../../../src/snapshot/index.js'
import { objectHeader, objectIdOf } from '../../../src/snapshot/objects/object-id.js'
import { fsck, GIT_ENVIRONMENT, removeAll } from '../../support/scratch.js'

export const LIMITS: Limits = { ...DEFAULT_LIMITS, maxFileBytes: 64 << 20, maxFiles: 5000 }
const PROJECT = 'bcdfghjklmnpqrstvw' as ProjectId

/** A store on another machine: nothing is shared but packs. */
export class Host implements AsyncDisposable {
  readonly home: string
  readonly snapshots: Snapshots
  #records = 0

  private constructor(
    readonly folder: string,
    readonly inProcess: boolean,
  ) {
    this.home = join(folder, 'home')
    mkdirSync(this.home)
    mkdirSync(join(folder, 'project'))
    this.snapshots = new Snapshots({
      home: this.home,
      durability: 'process',
      limitsOf: () => LIMITS,
      inProcess,
    })
  }

  static async start({ inProcess = true } = {}): Promise<Host> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-bundles-')))
    const host = new Host(folder, inProcess)
    await host.snapshots.prepare()
    return host
  }

  get project(): Project {
    return { id: PROJECT, path: bytePath(join(this.folder, 'project')) }
  }

  /** Captures the project and records it. */
  async save(): Promise<ObjectId> {
    const { snapshot } = await this.snapshots.capture(this.project, {
      knownTrees: [],
      deferObjects: false,
      named: undefined,
    })
    await this.record(snapshot.tree)
    return snapshot.tree
  }

  async record(tree: ObjectId): Promise<void> {
    this.#records += 1
    const letters = String(this.#records)
      .padStart(6, '0')
      .replace(/\d/g, (d) => 'bcdfghjklm'[+d] ?? '')
    await this.snapshots.record({
      tree,
      project: PROJECT,
      projectPath: this.project.path,
      checkpoint: `bcdfghjklmnp${letters}` as CheckpointId,
      kind: 'save',
      reason: null,
      createdAtMs: 1_700_000_000_000 + this.#records,
    })
  }

  /** Imports and records. Throws if a recorded snapshot is then not complete, by git's judgement. */
  async receive(tree: ObjectId, packs: readonly PackBytes[]): Promise<void> {
    await this.snapshots.importPacks(this.project, { tree, packs })
    await this.record(tree)
    const complaints = fsck(this.home)
    if (complaints !== '') throw new Error(complaints)
  }

  git(...args: readonly string[]): string {
    return this.gitBytes(...args)
      .toString('utf8')
      .trimEnd()
  }

  gitBytes(...args: readonly string[]): Buffer {
    const options = { env: GIT_ENVIRONMENT, stdio: 'pipe', maxBuffer: 1 << 28 } as const
    return execFileSync('git', ['--git-dir', join(this.home, 'objects.git'), ...args], options)
  }

  /** The files of the object database, and what is left in the temporary folders. */
  stored(): readonly string[] {
    return ['objects.git/objects', 'tmp'].flatMap((name) => {
      const folder = join(this.home, name)
      mkdirSync(folder, { recursive: true })
      return readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => entry.name)
        .sort()
    })
  }

  reachable(tree: ObjectId): ReadonlySet<string> {
    const lines = this.git('rev-list', '--objects', '--no-object-names', tree)
    return new Set(lines.split('\n'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.snapshots.close()
    removeAll(this.folder)
  }
}

export async function bytesOf({ chunks }: PackBytes): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

/** The ids of a complete pack, in order. */
export function idsIn(pack: Buffer): readonly string[] {
  const ids: string[] = []
  for (let at = PACK_START.length; at < pack.length - PACK_END.length; ) {
    const head = decodeHead(pack.subarray(at))
    if (head === undefined) throw new Error('malformed')
    ids.push(head.id)
    at += HEAD_BYTES + head.length
  }
  return ids
}

/** An object to be put into a pack, perhaps with a false head. */
export type Part = {
  readonly type: PackHead['type']
  readonly content: Uint8Array
  readonly form?: PackHead['form']
  readonly head?: Partial<PackHead>
  readonly zlib?: Uint8Array
}

export function partId({ type, content }: Pick<Part, 'type' | 'content'>): ObjectId {
  return objectIdOf(type, content)
}

export function encodePart(part: Part): Buffer {
  const { type, content, form = 'content', head } = part
  const inside =
    form === 'content'
      ? content
      : Buffer.concat([Buffer.from(objectHeader(type, content.length)), content])
  const zlib = part.zlib ?? deflateSync(inside)
  const full = { type, form, id: partId(part), size: content.length, length: zlib.length, ...head }
  return Buffer.concat([encodeHead(full), zlib])
}

export function packOfParts(parts: readonly Part[]): Buffer {
  return Buffer.concat([PACK_START, ...parts.map(encodePart), PACK_END])
}

export type RawEntry = readonly [mode: string, name: string, id: string]

/** In the order given, without any check. */
export function treePart(entries: readonly RawEntry[]): Part {
  const lines = entries.flatMap(([mode, name, id]) => [
    Buffer.from(`${mode} ${name}\0`, 'latin1'),
    Buffer.from(id, 'hex'),
  ])
  return { type: 'tree', content: Buffer.concat(lines) }
}

export function blobPart(content: string | Uint8Array): Part {
  return { type: 'blob', content: typeof content === 'string' ? Buffer.from(content) : content }
}
