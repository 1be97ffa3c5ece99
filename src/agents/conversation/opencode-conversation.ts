// opencode keeps its conversations in its own database. `opencode export` and `opencode import` copy the part before a prompt
// into a new session with new ids; the old session stays.
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fieldsOf, tryParseJson } from '../../base/index.js'
import { SavestateError } from '../../index.js'

type OpencodeCut = {
  readonly session: string
  /** The id of the prompt before which it ends. */
  readonly message: string
  /** The project's folder: opencode keeps its sessions per folder. */
  readonly folder: string
  /** The file for the export, readable only by the user. */
  readonly file: string
}

/** The id of the new session; undefined if nothing precedes the prompt. */
export function forkOpencode({ session, message, folder, file }: OpencodeCut): string | undefined {
  // Into a file: opencode may exit before it has written everything to a pipe.
  const output = openSync(file, 'w', 0o600)
  try {
    runOpencode(['export', session], { folder, output })
  } finally {
    closeSync(output)
  }
  const cut = cutExport(tryParseJson(readFileSync(file, 'utf8')), message)
  if (cut === undefined) {
    rmSync(file)
    throw new SavestateError('BAD_INPUT', 'opencode no longer has this prompt', {
      hint: BRIEF_HINT,
    })
  }
  if (cut.count === 0) {
    rmSync(file)
    return undefined
  }
  writeFileSync(file, cut.text, { mode: 0o600 })
  runOpencode(['import', file], { folder, output: 'ignore' })
  return cut.session
}

/** Pure. Undefined if the prompt is not in it. */
export function cutExport(
  exported: unknown,
  message: string,
): { readonly session: string; readonly count: number; readonly text: string } | undefined {
  const { info, messages } = fieldsOf(exported)
  const session = idOf(info)
  if (session === undefined || !Array.isArray(messages)) return undefined
  const end = messages.findIndex((one: unknown) => idOf(fieldsOf(one)['info']) === message)
  if (end === -1) return undefined
  const kept: readonly unknown[] = messages.slice(0, end)
  const ids = [session, ...kept.flatMap(collectIds)]
  const mark = randomBytes(4).toString('hex')
  const renamed = new Map(ids.map((id) => [id, renameId(id, mark)]))
  const text = JSON.stringify({ info, messages: kept }, (_, value: unknown) =>
    typeof value === 'string' ? (renamed.get(value) ?? value) : value,
  )
  return { session: renameId(session, mark), count: kept.length, text }
}

const BRIEF_HINT = '`savestate resume` prints a brief for a new conversation.'

/** Ids start with a time and are sorted by it, so only their end changes. */
function renameId(id: string, mark: string): string {
  return id.slice(0, -mark.length) + mark
}

function collectIds(message: unknown): readonly string[] {
  const { info, parts } = fieldsOf(message)
  const inside: readonly unknown[] = Array.isArray(parts) ? parts : []
  return [info, ...inside].map(idOf).filter((id) => id !== undefined)
}

function idOf(value: unknown): string | undefined {
  const id = fieldsOf(value)['id']
  return typeof id === 'string' && id.length > 16 ? id : undefined
}

const LIMIT_MS = 60_000

function runOpencode(
  args: readonly string[],
  { folder, output }: { readonly folder: string; readonly output: number | 'ignore' },
): void {
  const { error, status } = spawnSync('opencode', args, {
    cwd: folder,
    stdio: ['ignore', output, 'ignore'],
    timeout: LIMIT_MS,
  })
  if (error === undefined && status === 0) return
  throw new SavestateError('BAD_INPUT', `opencode ${args[0] ?? ''} failed`, {
    hint: `Is opencode on your PATH? ${BRIEF_HINT}`,
    ...(error === undefined ? {} : { cause: error }),
  })
}
