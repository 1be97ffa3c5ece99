// Writes the shortened copy of a conversation where the agent finds it.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AgentName } from '../../base/index.js'
import { explainSystemError } from '../../internal.js'
import type { AgentCheckpoint, Conversation } from './conversation.js'
import { claudeTalk, codexTalk, geminiTalk, type TalkForm } from './truncate-conversation.js'
import { configFolder } from '../install/config-paths.js'

type Place = {
  readonly home: string
  readonly checkpoint: AgentCheckpoint
  readonly path: string | undefined
}

type Way = {
  readonly form: TalkForm
  readonly program: string
  readonly write: (
    lines: readonly string[],
    place: Place,
  ) => Pick<Conversation, 'way' | 'command' | 'file'>
}

/** Agents whose conversation can continue from a file. */
export const WAYS: Readonly<Partial<Record<AgentName, Way>>> = {
  claude: {
    form: claudeTalk,
    program: 'claude',
    write(lines, place) {
      const file = writeInStore(lines, place)
      return { way: 'resume', file, command: ['claude', '--resume', file, '--fork-session'] }
    },
  },
  codex: { form: codexTalk, program: 'codex', write: writeBesideCodex },
  gemini: {
    form: geminiTalk,
    program: 'gemini',
    write(lines, place) {
      const file = writeInStore(lines, place)
      return { way: 'resume', file, command: ['gemini', '--session-file', file] }
    },
  },
}

const KEEP_DAYS = 7

function writeInStore(lines: readonly string[], place: Place): string {
  try {
    const file = fileInStore(place, 'jsonl')
    writeWhole(file, lines)
    return file
  } catch (error) {
    throw explainSystemError(error)
  }
}

export function fileInStore(
  { home, checkpoint }: Pick<Place, 'home' | 'checkpoint'>,
  ending: 'json' | 'jsonl',
): string {
  const folder = join(home, 'conversations')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  removeOld(folder)
  return join(folder, `${checkpoint.id}.${ending}`)
}

/** The agent has made its own of it by then. */
function removeOld(folder: string): void {
  const oldest = Date.now() - KEEP_DAYS * 24 * 60 * 60_000
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (changedMs !== undefined && changedMs < oldest) rmSync(path, { force: true })
  }
}

/**
 * Codex resumes by an id, and looks for it among its own files: a copy under a new id, beside the original. A hook's payload
 * said where the original is, so only its date is used, and the copy is always below Codex's own folder.
 */
function writeBesideCodex(
  lines: readonly string[],
  { checkpoint: { agentSession }, path }: Place,
): Pick<Conversation, 'way' | 'command' | 'file'> {
  const [, day, time] = CODEX_FILE.exec(path ?? '') ?? []
  // Known before anything is changed: see problemOf.
  if (day === undefined || time === undefined) return { way: 'none', command: null, file: null }
  const id = newThreadId()
  const folder = configFolder('codex', { type: 'user' }, process.env)
  const file = join(folder, 'sessions', day, `rollout-${time}-${id}.jsonl`)
  // Only as a whole value: what was said about the id stays as it was said.
  const renamed = lines.map((line) => line.replaceAll(`"${agentSession}"`, `"${id}"`))
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeWhole(file, renamed)
  } catch (error) {
    throw explainSystemError(error)
  }
  return { way: 'resume', file, command: ['codex', 'resume', id] }
}

export const CODEX_FILE =
  /\/sessions\/(\d{4}\/\d\d\/\d\d)\/rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-[\w-]+\.jsonl$/

function writeWhole(file: string, lines: readonly string[]): void {
  const temporary = `${file}.savestate-${process.pid}.tmp`
  try {
    const content = lines.map((line) => `${line}\n`).join('')
    writeFileSync(temporary, content, { mode: 0o600, flush: true })
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** A UUID of version 7, as Codex makes them. */
function newThreadId(): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
