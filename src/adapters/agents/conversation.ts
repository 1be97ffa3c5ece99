// The conversation of a checkpoint, so that the agent can go on from there. The agent's own file is never edited or
// cut: the shortened conversation is a file of its own, and the newer one stays where it is.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CheckpointDetails, explainSystemError, type Store } from '../../index.js'
import { claudeTalk, codexTalk, cutTalk, type Cut, geminiTalk, type TalkForm } from './cut-talk.js'
import { type AgentName, AGENT_NAMES, EVENT_TYPES, type EventType } from './event.js'
import { forkOpencode } from './opencode-talk.js'
import { recordOf } from './payload.js'
import type { Talk } from './save-talk.js'
import { type Position, readGrowth } from './transcript.js'

export type Conversation = {
  readonly agent: AgentName
  /** `resume`: the shortened one goes on. `new`: nothing was said before. `none`: there is no way to it. */
  readonly way: 'resume' | 'new' | 'none'
  readonly kind: Cut['kind']
  readonly prompt: string | null
  readonly tool: string | null
  /** What continues it, word by word; null if there is no way. */
  readonly command: readonly string[] | null
  /** The file that was made for it. */
  readonly file: string | null
  /** How many lines of the agent's file are in it. */
  readonly lines: number
}

/** A checkpoint that a hook has made. */
export type AgentCheckpoint = {
  readonly id: string
  readonly session: string
  readonly agent: AgentName
  readonly agentSession: string
  readonly at: EventType
  readonly turnId: string | undefined
  readonly callId: string | undefined
  readonly prompt: string | undefined
  readonly tool: string | undefined
  /** The agent's file. */
  readonly path: string | undefined
}

/** Undefined for a checkpoint that no agent's hook has made. */
export function agentCheckpoint({
  id,
  session,
  agent,
}: CheckpointDetails): AgentCheckpoint | undefined {
  const fields = recordOf(agent?.metadata) ?? {}
  const text = (key: string) => {
    const value = fields[key]
    return typeof value === 'string' ? value : undefined
  }
  const name = AGENT_NAMES.find((one) => one === text('agent'))
  const at = EVENT_TYPES.find((one) => one === text('at'))
  const agentSession = text('agentSession')
  if (session === null || name === undefined || agentSession === undefined) return undefined
  if (at === undefined) return undefined
  return {
    id,
    session,
    agent: name,
    agentSession,
    at,
    turnId: text('turnId'),
    callId: text('toolCallId'),
    prompt: text('prompt'),
    tool: text('tool'),
    path: text('transcript'),
  }
}

/** What there is to go on with, in memory. `write` makes the file, and says how to go on. */
export type PlannedConversation = {
  readonly outline: Conversation
  write(): Conversation
}

export async function planConversation(
  store: Store,
  checkpoint: AgentCheckpoint,
  folder: string,
): Promise<PlannedConversation> {
  const { agent, at, prompt = null, tool = null, path } = checkpoint
  const said = { agent, prompt, tool }
  if (agent === 'opencode' && checkpoint.turnId !== undefined && !AT_AN_END.includes(at))
    return planOpencode(store, { checkpoint, message: checkpoint.turnId, folder })
  const way = WAYS[agent]
  if (way === undefined) {
    const kind = at === 'turn-start' ? 'before-turn' : 'then'
    const none = { ...said, kind, way: 'none', command: null, file: null, lines: 0 } as const
    return { outline: none, write: () => none }
  }
  const { kind, lines } = cutTalk(way.form, checkpoint, await copiesOf(store, checkpoint))
  const counted = { ...said, kind, lines: lines.length, file: null }
  if (lines.length === 0) {
    const begun = { ...counted, way: 'new', command: [way.program] } as const
    return { outline: begun, write: () => begun }
  }
  return {
    outline: { ...counted, way: 'resume', command: null },
    write() {
      const place = { home: store.home, checkpoint, path }
      return { ...counted, ...way.write(lines, place) }
    },
  }
}

/** opencode tells which prompt a turn has begun with, and nothing of what has ended it. */
const AT_AN_END: readonly EventType[] = ['session-start', 'turn-end', 'session-end']

function planOpencode(
  { home }: Store,
  {
    checkpoint,
    message,
    folder,
  }: { readonly checkpoint: AgentCheckpoint; readonly message: string; readonly folder: string },
): PlannedConversation {
  const { agentSession: session, prompt = null, tool = null } = checkpoint
  const said = { agent: 'opencode', kind: 'before-turn', prompt, tool, lines: 0 } as const
  return {
    outline: { ...said, way: 'resume', command: null, file: null },
    write() {
      const file = fileInStore({ home, checkpoint }, 'json')
      const id = forkOpencode({ session, message, folder, file })
      if (id === undefined) return { ...said, way: 'new', command: ['opencode'], file: null }
      return { ...said, way: 'resume', command: ['opencode', '--session', id], file }
    },
  }
}

/** What the checkpoint holds, then what is newer. */
async function copiesOf(
  store: Store,
  { id, session: name, path }: AgentCheckpoint,
): Promise<readonly (readonly string[])[]> {
  const session = await store.session<Talk>(name, { mustExist: true, lease: false })
  try {
    const states = [await session.stateAt(id), await session.stateAt()]
    const stored = states.map((state) => linesIn(state?.transcript))
    return path === undefined ? stored : [...stored, linesOf(path)]
  } finally {
    await session.close()
  }
}

/** A state that was written by somebody else may hold anything there. */
function linesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string') : []
}

function linesOf(path: string): readonly string[] {
  const lines: string[] = []
  let known: Position | undefined
  for (;;) {
    const growth = readGrowth(path, known)
    if (growth === undefined || growth.lines.length === 0) return lines
    for (const line of growth.lines) lines.push(line)
    known = growth.position
  }
}

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

/** Agents whose conversation can go on from a file. */
const WAYS: Readonly<Partial<Record<AgentName, Way>>> = {
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

function fileInStore(
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

/** Codex resumes by an id, and looks for it among its own files: a copy under a new id, beside the original. */
function writeBesideCodex(
  lines: readonly string[],
  { checkpoint: { agentSession }, path }: Place,
): Pick<Conversation, 'way' | 'command' | 'file'> {
  // Whoever made the checkpoint has said where that is: nothing is written where Codex would not look.
  const [, time] = CODEX_FILE.exec(path ?? '') ?? []
  if (path === undefined || time === undefined) return { way: 'none', command: null, file: null }
  const id = newThreadId()
  const file = join(dirname(path), `rollout-${time}-${id}.jsonl`)
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

const CODEX_FILE =
  /\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-[\w-]+\.jsonl$/

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
