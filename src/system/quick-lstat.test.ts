// docs/decisions/0025: the quick lstat says what Node's says, or Node's is asked.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lstatOfNode, lstatOfWasi, type QuickLstat, STAT_TYPE, STAT_WORD } from './quick-lstat.js'

const KINDS: ReadonlySet<number> = new Set([STAT_TYPE.folder, STAT_TYPE.file, STAT_TYPE.link])

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quick-lstat-'))
  const names = [
    'plain',
    'with blank ',
    '-dash',
    'line\nbreak',
    ':(glob)',
    '\\back',
    'é',
    '"',
    '...',
  ]
  for (const name of [...names, 'n'.repeat(255)]) writeFileSync(join(folder, name), name)
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe, 0x80])]), 'x')
  mkdirSync(join(folder, 'in/side'), { recursive: true })
  symlinkSync('plain', join(folder, 'link'))
  symlinkSync('nowhere', join(folder, 'dangling'))
  symlinkSync('in', join(folder, 'link-to-folder'))
  linkSync(join(folder, 'plain'), join(folder, 'hard-link'))
  truncateSync(join(folder, '-dash'), 5 * 2 ** 30)
  utimesSync(join(folder, 'é'), -1_000_000.5, -2_000_000.25)
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const build = await rolldown({ input: 'src/system/quick-lstat.ts', platform: 'node' })
  await build.write({ file: join(folder, 'in/module.mjs') })
  await build.close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('of every kind of path it says what Node says', () => {
  const [wasi, node] = [expectWasi(), lstatOfNode()]
  const paths = [folder, '/dev/null', join(folder, 'in/side'), join(folder, 'link-to-folder/side')]
  const all = [...paths.map((path) => Buffer.from(path)), ...pathsIn(folder)]
  expect(all.length).toBeGreaterThan(20)
  for (const path of all) {
    const found = look(wasi, path)
    expect({ path: path.toString('latin1'), found }).toEqual({
      path: path.toString('latin1'),
      found: look(node, path),
    })
    expect(found).toBeDefined()
  }
})

test('it tells kinds apart, and follows no link', () => {
  for (const quick of [expectWasi(), lstatOfNode()]) {
    const typeOf = (name: string) => look(quick, Buffer.from(join(folder, name)))?.[0]
    expect(['plain', 'in', 'link', 'dangling', 'pipe'].map(typeOf)).toEqual([
      STAT_TYPE.file,
      STAT_TYPE.folder,
      STAT_TYPE.link,
      STAT_TYPE.link,
      STAT_TYPE.other,
    ])
  }
})

test.each(['missing', 'plain/below', 'missing/below', 'n'.repeat(300), 'long/'.repeat(3000)])(
  'what cannot be looked at is told: %#',
  (name) => {
    for (const quick of [expectWasi(), lstatOfNode()]) {
      expect(look(quick, Buffer.from(`${folder}/${name}`))).toBeUndefined()
    }
  },
)

test('a path that does not begin at the top is not taken for one that does', () => {
  expect(look(expectWasi(), Buffer.from('tmp'))).toBeUndefined()
})

test('a shorter path after a longer one is looked at alone', () => {
  const wasi = expectWasi()
  expect(look(wasi, Buffer.from(join(folder, 'n'.repeat(255))))).toBeDefined()
  expect(look(wasi, Buffer.from(folder))).toEqual(look(lstatOfNode(), Buffer.from(folder)))
})

test('a process that uses it prints no warning', () => {
  const { stderr, stdout } = inProcess([])
  expect({ stderr, stdout }).toEqual({ stderr: '', stdout: 'wasi true\n' })
})

test('a process that may not have it gets the same facts from Node', () => {
  const flags = process.allowedNodeEnvironmentFlags
  const permission = flags.has('--permission') ? '--permission' : '--experimental-permission'
  const { stdout } = inProcess([permission, '--allow-fs-read=*'])
  expect(stdout).toBe('node true\n')
})

/** Which of both it was, and whether it finds this file. */
function inProcess(flags: readonly string[]): { stdout: string; stderr: string } {
  const text = `import { lstatOfWasi, quickLstat } from ${JSON.stringify(join(folder, 'in/module.mjs'))}
    const quick = quickLstat()
    const isFound = quick.look(Buffer.from(process.execPath).copy(quick.path))
    console.log(lstatOfWasi() === undefined ? 'node' : 'wasi', String(isFound))`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--input-type=module', '-e', text],
    { encoding: 'utf8' },
  )
  return { stdout, stderr }
}

function expectWasi(): QuickLstat {
  const wasi = lstatOfWasi()
  if (wasi === undefined) throw new Error('This Node has no WASI that agrees with its own lstat')
  return wasi
}

/** Its kind first; what is none of ours is of no kind. */
function look(quick: QuickLstat, path: Buffer): number[] | undefined {
  path.copy(quick.path)
  if (!quick.look(path.length)) return undefined
  const words = [...quick.words]
  const { ino, size, mtime, ctime } = STAT_WORD
  const type = words[STAT_WORD.type] ?? 0
  return [
    KINDS.has(type) ? type : STAT_TYPE.other,
    ...[ino, size, mtime, ctime].flatMap((at) => [words[at] ?? 0, words[at + 1] ?? 0]),
  ]
}

function pathsIn(path: string): Buffer[] {
  return readdirSync(path, { encoding: 'buffer' }).map((name) =>
    Buffer.concat([Buffer.from(`${path}/`), name]),
  )
}
