// The real program in a scratch folder of its own: a project, a store and a home, removed at the end.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import { removeWhole } from '../support/remove-folder.js'

export const PROGRAM = fileURLToPath(new URL('../../dist/cli/bin.js', import.meta.url))

export type Ended = {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Setting = {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** The text for stdin. */
  readonly input?: string
}

export type Scratch = Disposable & {
  readonly folder: string
  readonly project: string
  readonly home: string
  readonly environment: Readonly<Record<string, string>>
  write(files: Readonly<Record<string, string>>): void
  /** Runs `savestate` with these arguments and waits for it. */
  run(args: readonly string[], setting?: Setting): Ended
  /** The same with --json; returns the parsed output, and fails if the program does. */
  json(args: readonly string[]): unknown
  /** Runs a piece of shell in which `savestate` is the program. */
  shell(script: string, setting?: Setting & { readonly shell?: string }): Ended
  start(
    args: readonly string[],
    setting?: Setting,
  ): {
    readonly kill: (signal: NodeJS.Signals) => void
    readonly ended: Promise<Ended>
  }
}

/** With `daemon`, commands use a running daemon, and hooks start it: see daemonScratch. */
export function scratch(
  files: Readonly<Record<string, string>> = {},
  { daemon = false }: { readonly daemon?: boolean } = {},
): Scratch {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-cli-')))
  const project = join(folder, 'project')
  for (const name of ['project', 'user', 'bin']) mkdirSync(join(folder, name))
  const wrapper = join(folder, 'bin', 'savestate')
  writeFileSync(wrapper, `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
  chmodSync(wrapper, 0o755)
  const environment = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: join(folder, 'user'),
    SAVESTATE_HOME: join(folder, 'store'),
    TMPDIR: join(folder, 'user'),
    LC_ALL: 'C.UTF-8',
    TZ: 'UTC',
    TERM: 'xterm-256color',
    ...(daemon ? {} : { SAVESTATE_NO_DAEMON: '1' }),
  }
  const settingOf = ({ cwd, env, input }: Setting = {}) => ({
    cwd: cwd ?? project,
    env: { ...environment, ...env },
    encoding: 'utf8' as const,
    ...(input === undefined ? {} : { input }),
  })
  const write: Scratch['write'] = (contents) => {
    for (const [path, content] of Object.entries(contents)) {
      mkdirSync(dirname(join(project, path)), { recursive: true })
      writeFileSync(join(project, path), content)
    }
  }
  const run: Scratch['run'] = (args, setting) =>
    endedOf(spawnSync(process.execPath, [PROGRAM, ...args], settingOf(setting)))
  write(files)
  return {
    folder,
    project,
    home: environment.SAVESTATE_HOME,
    environment,
    write,
    run,
    json(args) {
      const { code, stdout, stderr } = run(['--json', ...args])
      if (code !== 0) throw new Error(`savestate ${args.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout)
    },
    shell: (script, setting) =>
      endedOf(spawnSync(setting?.shell ?? '/bin/sh', ['-c', script], settingOf(setting))),
    start(args, setting) {
      const child = spawn(process.execPath, [PROGRAM, ...args], settingOf(setting))
      if (setting?.input !== undefined) child.stdin.end(setting.input)
      const output = { stdout: '', stderr: '' }
      child.stdout.on('data', (text) => (output.stdout += String(text)))
      child.stderr.on('data', (text) => (output.stderr += String(text)))
      return {
        kill: (signal) => void child.kill(signal),
        ended: new Promise((resolve, reject) => {
          child.once('error', reject)
          child.once('close', (code) => resolve({ code, ...output }))
        }),
      }
    },
    [Symbol.dispose]: () => removeWhole(folder),
  }
}

/**
 * For tests with the same start: `make` runs once, and its result is copied back for each of them. Not
 * for tests of relative times.
 */
export function prepared(make: () => Scratch): () => Scratch {
  let made: Scratch | undefined
  afterAll(() => {
    if (made !== undefined) rmSync(`${made.folder}-kept`, { recursive: true })
  })
  return () => {
    if (made === undefined) {
      made = make()
      execFileSync('cp', ['-a', made.folder, `${made.folder}-kept`])
    } else {
      execFileSync('cp', ['-a', `${made.folder}-kept`, made.folder])
    }
    return made
  }
}

/** Ids and times differ from run to run. */
export function steady(text: string): string {
  return (
    text
      .replace(/\b[bcdfghjklmnpqrstvwxz]{4,18}\b/g, '<id>')
      // Unique prefixes vary in length, so the columns do too.
      .replace(/<id>  +/g, '<id>  ')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<time>')
      .replace(/\b\d+ s ago\b/g, 'just now')
  )
}

function endedOf(child: {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}): Ended {
  return { code: child.status, stdout: child.stdout, stderr: child.stderr }
}
