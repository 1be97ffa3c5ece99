// The README and two guides show real output. Their blocks after `<!-- run -->` are run, in order, in one shell:
// a line with `$ ` in front is typed, the lines below it are what comes back. Ids and times may differ.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeWhole } from '../support/remove-folder.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The commands of the second page continue those of the first. */
const PAGES = ['README.md', 'docs/guide/with-git-alone.md', 'docs/guide/sessions.md']
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n')

let scratch = ''
let environment: NodeJS.ProcessEnv = {}

beforeAll(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-readme-')))
  const home = join(scratch, 'home')
  mkdirSync(join(scratch, 'bin'))
  mkdirSync(join(home, 'node_modules'), { recursive: true })
  symlinkSync(ROOT, join(home, 'node_modules', 'savestate'))
  const wrapper = join(scratch, 'bin', 'savestate')
  writeFileSync(wrapper, `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/dist/cli/bin.js' "$@"\n`)
  chmodSync(wrapper, 0o755)
  // The store is where a newcomer's is: ~/.savestate.
  environment = {
    PATH: `${join(scratch, 'bin')}:${process.env['PATH']}`,
    HOME: home,
    TMPDIR: scratch,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
  }
})

afterAll(() => removeWhole(scratch))

test('the session in the README happens as it is printed', () => {
  const steps = blocks('console').flatMap(stepsOf)
  expect(steps.length).toBeGreaterThan(10)
  const script = steps
    .map(({ command }, i) => `${command}\nprintf '\\n@@ %d %d\\n' ${i} $?\n`)
    .join('')
  const { stdout } = spawnSync('bash', [], {
    cwd: join(scratch, 'home'),
    env: environment,
    input: `exec 2>&1\n${script}`,
    encoding: 'utf8',
  })
  const happened = stdout.split(/\n?@@ \d+ (\d+)\n/)
  const seen = steps.map(({ command }, i) => ({
    command,
    output: loosely(happened[2 * i] ?? ''),
    status: happened[2 * i + 1],
  }))
  expect(seen).toEqual(
    steps.map(({ command, output }) => ({ command, output: loosely(output), status: '0' })),
  )
})

test('the README is short', () => {
  const lines = readFileSync(join(ROOT, 'README.md'), 'utf8').trimEnd().split('\n')
  expect(lines.length).toBeLessThanOrEqual(200)
})

test('the SDK examples in the README and the guide to sessions run', () => {
  const examples = blocks('js')
  expect(examples.length).toBe(2)
  for (const [number, example] of examples.entries()) {
    const folder = join(scratch, 'home', `sdk-${number}`)
    mkdirSync(join(folder, 'src'), { recursive: true })
    writeFileSync(join(folder, 'src', 'app.js'), 'one\n')
    writeFileSync(join(folder, 'example.mjs'), example)
    const { status, stdout, stderr } = spawnSync(process.execPath, ['example.mjs'], {
      cwd: folder,
      env: environment,
      encoding: 'utf8',
    })
    const expected = [...example.matchAll(/ \/\/ → (.*)$/gm)].map(([, text = '']) => text)
    expect(expected.length).toBeGreaterThan(1)
    expect({ status, stderr, stdout: stdout.trimEnd().split('\n') }).toEqual({
      status: 0,
      stderr: '',
      stdout: expected,
    })
  }
})

test('the quick start tells its story to the end and leaves nothing behind', () => {
  const folder = join(scratch, 'quickstart')
  mkdirSync(folder)
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/quickstart.mjs'), '--fast'],
    // Contacts no remote, even if one is set.
    {
      cwd: folder,
      env: { ...environment, TMPDIR: folder, SAVESTATE_REMOTE: 'postgres://127.0.0.1:1/none' },
      encoding: 'utf8',
    },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const typed = [...stdout.matchAll(/^\$ (\w+ \w+|rm -rf src)/gm)].map(([, command]) => command)
  expect(typed).toEqual([
    'savestate save',
    'savestate save',
    'rm -rf src',
    'savestate diff',
    'savestate rewind',
    'savestate undo',
    'savestate redo',
    'savestate list',
    'node survivor',
    'savestate sessions',
    'node survivor',
  ])
  expect(stdout.match(/^checksum .* = checksum of /gm)).toHaveLength(3)
  expect(readdirSync(folder)).toEqual([])
})

test('a quick start whose program fails says so and fails', () => {
  const folder = join(scratch, 'broken')
  mkdirSync(join(folder, 'scripts'), { recursive: true })
  mkdirSync(join(folder, 'dist', 'cli'), { recursive: true })
  for (const name of ['quickstart.mjs', 'no-agent.mjs'])
    writeFileSync(join(folder, 'scripts', name), readFileSync(join(ROOT, 'scripts', name)))
  writeFileSync(join(folder, 'dist', 'cli', 'bin.js'), 'process.exit(2)\n')
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'scripts/quickstart.mjs'), '--fast'],
    { env: environment, encoding: 'utf8' },
  )
  expect(status).toBe(1)
  expect(stderr).toMatch(/^The quick start failed: savestate save .* ended with 2\./)
})

/** The text of the marked blocks in a language. */
function blocks(language: string): string[] {
  const form = new RegExp(`^<!-- run -->\\n\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm')
  return [...PAGES.matchAll(form)].map(([, text = '']) => text)
}

type Step = { readonly command: string; readonly output: string }

function stepsOf(block: string): Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const end = text.indexOf('\n')
      return { command: text.slice(0, end), output: text.slice(end + 1) }
    })
}

/** Without what differs from run to run: ids and their starts, times, hashes, and the width of columns. */
function loosely(output: string): string[] {
  return output
    .replace(/\b[bcdfghjklmnpqrstvwxz]{4,18}\b/g, '<id>')
    .replace(/\b[0-9a-f]{7,40}\b/g, '<hash>')
    .replace(/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+Z)?/g, '<time>')
    .replace(/just now|\d+ (?:s|min|h) ago/g, '<time>')
    .replace(/\b\d[\d.]* (?:B|KB|MB)\b/g, '<size>')
    .replaceAll(join(scratch, 'home'), '/home/you')
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '')
}
