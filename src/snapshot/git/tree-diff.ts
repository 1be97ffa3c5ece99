// Compares two trees with `git diff-tree`, which skips equal folders without reading them. One process stays open, because every
// save compares.
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { type BytePath, type ObjectId, SavestateError } from '../../model/index.js'
import { hostileSnapshot, refuseHostileTree } from '../objects/safe-path.js'
import { setAwaited, startServingGit } from './git-program.js'

export type Side = {
  readonly type: 'file' | 'executable' | 'link' | 'folder'
  readonly id: ObjectId
}

/** One path that differs; a side is undefined if the path does not exist there. */
export type PathChange<Entry> = {
  readonly path: BytePath
  readonly before: Entry | undefined
  readonly after: Entry | undefined
  /** Undefined for folders and for binary content. */
  readonly insertions: number | undefined
  readonly deletions: number | undefined
}
export type TreeChange = PathChange<Side>

const ARGS = [
  'diff-tree',
  '--stdin',
  '-r',
  '-t',
  '-z',
  '--raw',
  '--no-renames',
  '--no-abbrev',
  '--no-ext-diff',
]
// git echoes a line that names no object, and flushes: so this line marks that all earlier requests are answered. No path can be
// mistaken for it, because each ends with a NUL.
const END_MARK = '-- answered --\n'

export class TreeDiff {
  readonly #gitDir: string
  readonly #args: readonly string[]
  #child: ChildProcessWithoutNullStreams | undefined
  #output: Buffer[] = []
  /** The last characters of the output. */
  #tail = ''
  #waiting: { resolve: (output: Buffer) => void; reject: (error: Error) => void } | undefined

  /** Counting lines means reading both contents, so it is optional. */
  constructor(gitDir: string, { countLines }: { readonly countLines: boolean }) {
    this.#gitDir = gitDir
    this.#args = countLines ? [...ARGS, '--numstat'] : ARGS
  }

  /** One call at a time. */
  async compare(before: ObjectId, after: ObjectId): Promise<TreeChange[]> {
    if (before === after) return []
    const child = (this.#child ??= this.#start())
    const output = await new Promise<Buffer>((resolve, reject) => {
      this.#waiting = { resolve, reject }
      setAwaited(child, true)
      child.stdin.write(`${before} ${after}\n${END_MARK}`)
    }).finally(() => setAwaited(child, false))
    const text = output.toString('latin1')
    const head = `${before} ${after}\n`
    // Git silently skips a request with an unknown id.
    if (!text.startsWith(head)) throw missingTree(before, after)
    const changes = parse(text.slice(head.length, -END_MARK.length))
    refuseHostileTree(entriesOf(changes, 'before'))
    refuseHostileTree(entriesOf(changes, 'after'))
    return changes
  }

  close(): void {
    this.#child?.stdin.end()
    this.#child = undefined
  }

  #start(): ChildProcessWithoutNullStreams {
    this.#output = []
    const child = startServingGit(this.#gitDir, {
      args: this.#args,
      onData: (chunk) => this.#receive(chunk),
      onFail: (error) => {
        if (this.#child !== child) return
        this.#child = undefined
        this.#waiting?.reject(error)
        this.#waiting = undefined
      },
    })
    return child
  }

  #receive(chunk: Buffer): void {
    this.#output.push(chunk)
    this.#tail = (
      this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - END_MARK.length))
    ).slice(-END_MARK.length)
    if (this.#tail !== END_MARK) return
    const output = Buffer.concat(this.#output)
    this.#output = []
    this.#waiting?.resolve(output)
    this.#waiting = undefined
  }
}

function missingTree(before: ObjectId, after: ObjectId): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The store lacks the tree ${before} or ${after}`, {
    hint: 'Run `savestate verify` to see which checkpoints are affected.',
  })
}

function parse(text: string): TreeChange[] {
  const tokens = text.split('\0')
  const changes: TreeChange[] = []
  const counts = new Map<string, readonly [string, string]>()
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] ?? ''
    const raw = /^:(\d{6}) (\d{6}) (\w{40}) (\w{40}) /.exec(token)
    if (raw !== null) {
      const [, modeBefore = '', modeAfter = '', idBefore = '', idAfter = ''] = raw
      const path = (tokens[++i] ?? '') as BytePath
      changes.push({
        path,
        before: sideOf(modeBefore, idBefore),
        after: sideOf(modeAfter, idAfter),
        insertions: undefined,
        deletions: undefined,
      })
    } else if (token !== '') {
      const [insertions = '', deletions = '', ...path] = token.split('\t')
      counts.set(path.join('\t'), [insertions, deletions])
    }
  }
  return changes.map((change) => {
    if ((change.after ?? change.before)?.type === 'folder') return change
    const [insertions, deletions] = counts.get(change.path) ?? ['-', '-']
    return { ...change, insertions: numberOf(insertions), deletions: numberOf(deletions) }
  })
}

function entriesOf(changes: readonly TreeChange[], side: 'before' | 'after') {
  return changes.flatMap(({ path, [side]: entry }) =>
    entry === undefined ? [] : { path, type: entry.type },
  )
}

const ABSENT = '000000'
export const TYPE_OF: Readonly<Record<string, Side['type']>> = {
  '100644': 'file',
  '100755': 'executable',
  '120000': 'link',
  '040000': 'folder',
}

function sideOf(mode: string, id: string): Side | undefined {
  if (mode === ABSENT) return undefined
  const type = TYPE_OF[mode]
  if (type === undefined) throw hostileSnapshot(`has an entry of mode ${mode}`)
  return { type, id: id as ObjectId }
}

function numberOf(text: string): number | undefined {
  return text === '-' ? undefined : Number(text)
}
