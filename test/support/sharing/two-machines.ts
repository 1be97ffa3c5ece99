// Two machines with the real program: each has a home, and a clone of the same repository at a path of its own.
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Ended, type Scratch, scratch } from '../../cli/program.js'
import { createDatabase, type TestDatabase } from '../postgres/index.js'

export type Machine = Scratch & {
  /** Fails unless the program ends with 0; returns its output. */
  ok(...args: readonly string[]): string
  /** Saves a state with one message per word, and `f.txt` with the last one. */
  saveStep(session: string, words: string): void
  /** The words of the newest state. */
  words(session: string): string
}

export type RemotePlace = {
  readonly kind: 'postgres' | 'git'
  /** A new database, or a new repository: its remote does not exist yet. */
  newUrl(): Promise<string>
}

export const ORIGIN = 'https://example.org/team/app.git'

type MachineOptions = {
  readonly key?: string
  /** The origin of its clone. Null: it is no clone. */
  readonly origin?: string | null
}

/** Adds the remote `team` with the key in `key`, or plain. */
export function machine(url: string, { key, origin = ORIGIN }: MachineOptions = {}): Machine {
  const own = scratch()
  execFileSync('git', ['init', '-q', own.project], { env: { PATH: process.env['PATH'] } })
  const config = join(own.project, '.git', 'config')
  if (origin !== null) appendFileSync(config, `[remote "origin"]\n\turl = ${origin}\n`)
  const ok: Machine['ok'] = (...args) => {
    const { code, stdout, stderr } = own.run(args)
    if (code !== 0) throw new Error(`savestate ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }
  ok('remote', 'add', 'team', url, ...(key === undefined ? ['--plain'] : ['--key-file', key]))
  return {
    ...own,
    ok,
    saveStep(session, words) {
      const messages = words.split(' ').map((content) => ({ role: 'user', content }))
      own.write({ 'f.txt': `${words.split(' ').at(-1)}\n` })
      const args = ['save', '--session', session, '--state', '-', '-m', words]
      const { code, stderr }: Ended = own.run(args, { input: JSON.stringify({ messages }) })
      if (code !== 0) throw new Error(stderr)
    },
    words(session) {
      const { state } = JSON.parse(ok('resume', session, '--json')) as {
        state: { messages: { content: string }[] }
      }
      return state.messages.map(({ content }) => content).join(' ')
    },
  }
}

export function postgresPlace(): RemotePlace {
  const databases: TestDatabase[] = []
  afterAll(async () => {
    for (const database of databases) await database.dispose()
  })
  return {
    kind: 'postgres',
    async newUrl() {
      const database = await createDatabase()
      databases.push(database)
      return database.url
    },
  }
}

export function gitPlace(): RemotePlace {
  let folder: string
  let count = 0
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-git-remote-')))
  })
  afterAll(() => rmSync(folder, { recursive: true }))
  return {
    kind: 'git',
    async newUrl() {
      const path = join(folder, `${count++}.git`)
      execFileSync('git', ['init', '-q', '--bare', path], { env: { PATH: process.env['PATH'] } })
      return `file://${path}`
    },
  }
}

/** The path of a key file that does not exist yet. */
export function keyFile(): string {
  keys ??= realpathSync(mkdtempSync(join(tmpdir(), 'savestate-keys-')))
  return join(keys, `${keyCount++}`)
}

let keys: string | undefined
let keyCount = 0

/** Call it once per file that uses `keyFile`. */
export function removeKeyFiles(): void {
  if (keys !== undefined) rmSync(keys, { recursive: true })
  keys = undefined
}
