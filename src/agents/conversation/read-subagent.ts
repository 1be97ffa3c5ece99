// The conversation of a subagent. Claude Code and Codex write it into a file of its own, which no state contains, so it is read when
// it is shown. Ids come from transcripts and requests: only files within the folder of the session's own transcript are read,
// and no link is followed there.
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fieldsOf, hasCode, tryParseJson } from '../../base/index.js'
import type { ConversationFormat } from './read-items.js'
import { readStart, transcriptOf } from './transcript.js'
import { CODEX_FILE } from './write-conversation.js'

export type SubagentOptions = {
  readonly format: ConversationFormat
  /** The id of the tool call that started it. */
  readonly call: string
  /** Its own id, as far as it is known. */
  readonly agent?: string | undefined
}

/** A file below a folder. */
type Place = { readonly root: string; readonly name: string }

/** The lines, of a very long conversation the first ones and a remark; none if there is no file. `metadata` is that of the session's head. */
export function readSubagent(metadata: unknown, options: SubagentOptions): readonly string[] {
  const { format } = options
  try {
    const transcript = transcriptOf(metadata)
    if (transcript === undefined) return []
    if (format === 'claude') return readFirstLines(findClaude(transcript, options)) ?? []
    if (format === 'codex') return withoutInherited(readFirstLines(findCodex(transcript, options)))
    return []
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM')) return []
    throw error
  }
}

const PLAIN_NAME = /^[\w-]{1,100}$/
const META_FILE = /^agent-([\w-]{1,100})\.meta\.json$/

/** `<session>/subagents/agent-<id>.jsonl` beside the transcript. */
function findClaude(transcript: string, { call, agent }: SubagentOptions): Place | undefined {
  const root = dirname(transcript)
  const session = basename(transcript, '.jsonl')
  if (!PLAIN_NAME.test(session)) return undefined
  const folder = join(session, 'subagents')
  const id = agent ?? findAgentOf(call, { root, name: folder })
  if (id === undefined || !PLAIN_NAME.test(id)) return undefined
  return { root, name: join(folder, `agent-${id}.jsonl`) }
}

/** Newer versions write the id of the call into a file beside the subagent's, when it starts. */
function findAgentOf(call: string, { root, name: folder }: Place): string | undefined {
  for (const file of namesIn({ root, name: folder })) {
    const id = META_FILE.exec(file)?.[1]
    if (id === undefined) continue
    const meta = readText({ root, name: join(folder, file) })
    if (fieldsOf(tryParseJson(meta))['toolUseId'] === call) return id
  }
  return undefined
}

/** A UUID of version 7, which begins with its time. */
const THREAD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const DAY_MS = 24 * 60 * 60_000

/** `YYYY/MM/DD/rollout-<time>-<id>.jsonl` in the folder of all sessions. The day is that of Codex's time zone. */
function findCodex(transcript: string, { agent = '' }: SubagentOptions): Place | undefined {
  if (!CODEX_FILE.test(transcript) || !THREAD_ID.test(agent)) return undefined
  const root = join(dirname(transcript), '..', '..', '..')
  const startMs = Number.parseInt(agent.slice(0, 13).replace('-', ''), 16)
  const file = new RegExp(`^rollout-[\\dT-]{19}-${agent}\\.jsonl$`)
  for (const dayMs of [startMs, startMs - DAY_MS, startMs + DAY_MS]) {
    const folder = new Date(dayMs).toISOString().slice(0, 10).replaceAll('-', '/')
    const found = namesIn({ root, name: folder }).find((name) => file.test(name))
    if (found !== undefined) return { root, name: join(folder, found) }
  }
  return undefined
}

/** A thread that is no subagent is not shown. A subagent's begins with a part of its parent's conversation. */
function withoutInherited(lines: readonly string[] | undefined): readonly string[] {
  const head = fieldsOf(fieldsOf(tryParseJson(lines?.[0] ?? ''))['payload'])
  if (lines === undefined || fieldsOf(head['source'])['subagent'] === undefined) return []
  const start = head['subagent_history_start_ordinal']
  if (typeof start !== 'number') return lines
  const first = lines.findIndex((line) => {
    const ordinal = fieldsOf(tryParseJson(line))['ordinal']
    return typeof ordinal !== 'number' || ordinal >= start
  })
  return first < 0 ? [] : lines.slice(first)
}

function namesIn({ root, name }: Place): readonly string[] {
  try {
    return readdirSync(join(root, name))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** An entry that is not JSON is shown as a remark. */
const CUT = 'Only the beginning of this conversation is shown: its file is too large.'

function readFirstLines(place: Place | undefined): readonly string[] | undefined {
  return readWith(place, (fd) => {
    const { lines, isAll } = readStart(fd)
    return isAll ? lines : [...lines, CUT]
  })
}

const MAX_META_BYTES = 64 * 1024

function readText(place: Place): string | undefined {
  return readWith(place, (fd) =>
    fstatSync(fd).size > MAX_META_BYTES ? undefined : readFileSync(fd, 'utf8'),
  )
}

/** Undefined if there is no such file, if it is not a regular one, or if a link leads out of the folder to it. */
function readWith<Result>(
  place: Place | undefined,
  read: (fd: number) => Result,
): Result | undefined {
  if (place === undefined) return undefined
  let fd: number | undefined
  try {
    const path = join(realpathSync(place.root), place.name)
    // Reading a pipe would wait for its writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    return isAt(fd, path) ? read(fd) : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined
    throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Compared after it was opened: a folder of the path may have been replaced by a link before. */
function isAt(fd: number, path: string): boolean {
  const opened = fstatSync(fd, { bigint: true })
  const there = statSync(path, { bigint: true })
  const isSame = opened.dev === there.dev && opened.ino === there.ino
  return opened.isFile() && isSame && realpathSync(path) === path
}
