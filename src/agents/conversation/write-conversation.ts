// Writes the truncated copy of a conversation where the agent finds it.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AgentName } from '../../base/index.js'
import type { AgentCheckpoint } from './conversation.js'
import {
  claudeFormat,
  codexFormat,
  geminiFormat,
  type TranscriptFormat,
} from './truncate-conversation.js'
import { configFolder } from '../install/config-paths.js'

type Destination = {
  readonly home: string
  readonly checkpoint: AgentCheckpoint
  readonly path: string | undefined
}

type Written = { readonly command: readonly string[]; readonly file: string }

type ResumeMethod = {
  readonly format: TranscriptFormat
  readonly write: (lines: readonly string[], destination: Destination) => Written
}

/** Agents whose conversation can continue from a file. */
export const RESUMABLE: Readonly<Partial<Record<AgentName, ResumeMethod>>> = {
  claude: {
    format: claudeFormat,
    write: writeInStore((file) => ['claude', '--resume', file, '--fork-session']),
  },
  codex: { format: codexFormat, write: writeBesideCodex },
  gemini: {
    format: geminiFormat,
    write: writeInStore((file) => ['gemini', '--session-file', file]),
  },
}

const KEEP_DAYS = 7

function writeInStore(commandFor: (file: string) => readonly string[]): ResumeMethod['write'] {
  return (lines, destination) => {
    const file = fileInStore(destination, 'jsonl')
    writeLines(file, lines)
    return { file, command: commandFor(file) }
  }
}

export function fileInStore(
  { home, checkpoint }: Pick<Destination, 'home' | 'checkpoint'>,
  ending: 'json' | 'jsonl',
): string {
  const folder = join(home, 'conversations')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  removeOld(folder)
  return join(folder, `${checkpoint.id}.${ending}`)
}

/** By then the agent has its own copy. */
function removeOld(folder: string): void {
  const oldest = Date.now() - KEEP_DAYS * 24 * 60 * 60_000
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (changedMs !== undefined && changedMs < oldest) rmSync(path, { force: true })
  }
}

/**
 * Codex resumes by an id that it searches for among its own files, so the copy gets a new id. The path of the original came with
 * a hook's payload: only its date is used, and the copy is always below Codex's own folder.
 */
function writeBesideCodex(
  lines: readonly string[],
  { checkpoint: { agentSession }, path }: Destination,
): Written {
  // findProblem has checked the path before anything was changed.
  const [, day = '', time = ''] = CODEX_FILE.exec(path ?? '') ?? []
  const id = newThreadId()
  const folder = configFolder('codex', { type: 'user' }, process.env)
  const file = join(folder, 'sessions', day, `rollout-${time}-${id}.jsonl`)
  // Only as a whole JSON string: text that mentions the id stays unchanged.
  const renamed = lines.map((line) => line.replaceAll(`"${agentSession}"`, `"${id}"`))
  writeLines(file, renamed)
  return { file, command: ['codex', 'resume', id] }
}

export const CODEX_FILE =
  /\/sessions\/(\d{4}\/\d\d\/\d\d)\/rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-[\w-]+\.jsonl$/

/** As a whole, or not at all. */
function writeLines(file: string, lines: readonly string[]): void {
  const temporary = `${file}.savestate-${process.pid}.tmp`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
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
