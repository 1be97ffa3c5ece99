// I5: a rewind never overwrites or deletes content that no checkpoint contains.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isSaved, MAX_FILE_BYTES, openProject } from '../../support/safety-project.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/crash-child.mjs')
const NOBODY = 65_534

describe('I5: a rewind never overwrites or deletes uncaptured content', () => {
  /** Each function creates an uncaptured entry at a path. */
  const UNCAPTURED: Readonly<Record<string, (s: Scratch, path: string) => void | Promise<void>>> = {
    'ignored by .gitignore': (s, path) => {
      s.write({ [path]: 'the only copy', '.gitignore': `/${path}\n` })
    },
    'ignored by .savestateignore': (s, path) => {
      s.write({ [path]: 'the only copy', '.savestateignore': `/${path}\n` })
    },
    'a private key': (s, path) => s.write({ [path]: '-----BEGIN RSA PRIVATE KEY-----\nAAAA\n' }),
    'too large': (s, path) => s.write({ [path]: 'x'.repeat(MAX_FILE_BYTES + 1) }),
    'a pipe': (s, path) => {
      execFileSync('mkfifo', [join(s.project, path)])
    },
    'a socket': async (s, path) => {
      // Closing a server removes its socket, so bind elsewhere and move the socket.
      const server = createServer()
      const bound = join(s.folder, 'socket')
      await new Promise<void>((resolve) => server.listen(bound, resolve))
      mkdirSync(dirname(join(s.project, path)), { recursive: true })
      renameSync(bound, join(s.project, path))
      server.close()
    },
    'a folder that is ignored': (s, path) => {
      s.write({ [`${path}/inside.txt`]: 'the only copy', '.gitignore': `/${path}/\n` })
    },
    'a nested .git': (s, path) => {
      mkdirSync(join(s.project, path), { recursive: true })
      s.git(['init', '-q', join(s.project, path)])
    },
  }

  const kinds = Object.keys(UNCAPTURED)
  /** Excluded only by a rule: a rewind that must overwrite such a file can save it first. */
  const byRule = kinds.slice(0, 4)

  test.each(byRule)(
    '%s at the path of a restored file is saved first, and undo restores it',
    async (kind) => {
      await using s = await scratch({ files: { thing: 'captured', 'other.txt': 'one' } })
      const project = await openProject(s)
      const { id } = await project.save({})
      s.write({ thing: null, 'other.txt': 'two' })
      await UNCAPTURED[kind]?.(s, 'thing')
      const before = s.snapshotOf()
      const { plan } = await project.rewind(id)
      expect(plan.conflict).toEqual([])
      expect(readFileSync(join(s.project, 'thing'), 'utf8')).toBe('captured')
      await project.undo()
      expect(s.snapshotOf()).toEqual(before)
    },
  )

  const others = kinds.slice(4)

  test.each(others)('%s at the path of a restored file is a conflict', async (kind) => {
    await using s = await scratch({ files: { thing: 'captured', 'other.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ thing: null, 'other.txt': 'two' })
    await UNCAPTURED[kind]?.(s, 'thing')
    const before = s.snapshotOf()
    const plan = await project.rewind(id, { dryRun: true })
    expect(plan.plan.conflict.map(({ path }) => path)).not.toEqual([])
    await expect(project.rewind(id)).rejects.toThrow(
      expect.objectContaining({ code: 'REWIND_CONFLICT' }),
    )
    expect(s.snapshotOf()).toEqual(before)
    // Other paths can still be restored.
    await project.rewind(id, { paths: ['other.txt'] })
    expect(readFileSync(join(s.project, 'other.txt'), 'utf8')).toBe('one')
    before.delete('other.txt')
    expect(s.snapshotOf(s.project, { except: ['other.txt'] })).toEqual(before)
  })

  test.each(kinds)('%s in a folder that a rewind removes stays, with its folder', async (kind) => {
    await using s = await scratch({ files: { 'x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'later/deep/made.txt': 'made later', 'x.txt': 'two' })
    await UNCAPTURED[kind]?.(s, 'later/deep/thing')
    const things = () => [...s.snapshotOf()].filter(([path]) => path.startsWith('later/deep/thing'))
    const before = things()
    expect(before.length).toBeGreaterThan(0)
    const { plan } = await project.rewind(id)
    expect(plan.conflict).toEqual([])
    const kept = plan.keep.map(({ path }) => path)
    expect(kept).toEqual(expect.arrayContaining(['later', 'later/deep']))
    expect(things()).toEqual(before)
    expect(s.snapshotOf().has('later/deep/made.txt')).toBe(false)
    await project.undo()
    expect(things()).toEqual(before)
    expect(readFileSync(join(s.project, 'later/deep/made.txt'), 'utf8')).toBe('made later')
  })

  test.each(kinds)(
    '%s in a folder that a rewind replaces by a file is a conflict',
    async (kind) => {
      await using s = await scratch({ files: { x: 'a file', l: { link: 'x' } } })
      const project = await openProject(s)
      const { id } = await project.save({})
      s.write({ x: null, l: null })
      s.write({ 'x/made.txt': 'made later', 'l/made.txt': 'made later' })
      await UNCAPTURED[kind]?.(s, 'x/thing')
      const before = s.snapshotOf()
      await expect(project.rewind(id)).rejects.toThrow(
        expect.objectContaining({ code: 'REWIND_CONFLICT' }),
      )
      expect(s.snapshotOf()).toEqual(before)
    },
  )

  test('ignored data stays when a rewind removes the ignore file that protects it (cline #14367)', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ '.gitignore': 'data/\n', 'data/only-copy.bin': 'precious', 'x.txt': 'two' })
    await project.save({})
    await project.rewind(id)
    expect([...s.snapshotOf().keys()]).toEqual(['', 'data', 'data/only-copy.bin', 'x.txt'])
    await project.undo()
    expect([...s.snapshotOf().keys()]).toEqual([
      '',
      '.gitignore',
      'data',
      'data/only-copy.bin',
      'x.txt',
    ])
    expect(readFileSync(join(s.project, 'data/only-copy.bin'), 'utf8')).toBe('precious')
  })

  test('data that the checkpoint ignored stays although it is not ignored now', async () => {
    await using s = await scratch({
      files: { '.gitignore': 'data/\n*.key\n', 'data/a': 'precious', 'server.key': 'precious' },
    })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ '.gitignore': '', 'data/b': 'made later', 'made.txt': 'made later' })
    await project.save({})
    const { plan } = await project.rewind(id)
    expect(plan.remove.map(({ path }) => path)).toEqual(['made.txt'])
    const world = s.snapshotOf()
    expect([...world.keys()]).toEqual(['', '.gitignore', 'data', 'data/a', 'data/b', 'server.key'])
    expect(readFileSync(join(s.project, 'data/a'), 'utf8')).toBe('precious')
    expect(readFileSync(join(s.project, '.gitignore'), 'utf8')).toBe('data/\n*.key\n')
  })

  test('data that the checkpoint captured and that is ignored now is saved before it is overwritten', async () => {
    await using s = await scratch({ files: { 'data/a': 'one', 'data/b': 'one', 'x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ '.gitignore': 'data/\n', 'data/extra': 'the only copy', 'x.txt': 'two' })
    await project.rewind(id)
    expect([...s.snapshotOf().keys()]).toEqual([
      '',
      'data',
      'data/a',
      'data/b',
      'data/extra',
      'x.txt',
    ])
    s.write({ '.gitignore': 'data/\n', 'data/a': 'two, the only copy' })
    const before = s.snapshotOf()
    await project.rewind(id)
    expect(readFileSync(join(s.project, 'data/a'), 'utf8')).toBe('one')
    expect(await isSaved(s, project, { path: 'data/a', content: 'two, the only copy' })).toBe(true)
    expect(await isSaved(s, project, { path: 'data/extra', content: 'the only copy' })).toBe(true)
    await project.undo()
    expect(s.snapshotOf()).toEqual(before)
  })

  test('a file that was over the size limit and is small now stays (hermes-agent #95207)', async () => {
    await using s = await scratch({
      files: { 'model.bin': 'x'.repeat(MAX_FILE_BYTES + 1), a: 'one' },
    })
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ 'model.bin': 'small now', a: 'two' })
    await project.save({})
    const { plan } = await project.rewind(id)
    expect(plan.keep.map(({ path }) => path)).toEqual(['model.bin'])
    expect(readFileSync(join(s.project, 'model.bin'), 'utf8')).toBe('small now')
    expect(readFileSync(join(s.project, 'a'), 'utf8')).toBe('one')
  })

  test('a file that was small and is over the size limit now is saved before it is overwritten', async () => {
    await using s = await scratch({ files: { 'model.bin': 'small', a: 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    const large = 'x'.repeat(MAX_FILE_BYTES + 1)
    s.write({ 'model.bin': large, a: 'two' })
    const before = s.snapshotOf()
    await project.rewind(id)
    expect(readFileSync(join(s.project, 'model.bin'), 'utf8')).toBe('small')
    expect(await isSaved(s, project, { path: 'model.bin', content: large })).toBe(true)
    await project.undo()
    expect(s.snapshotOf()).toEqual(before)
  })

  test('a user file with the name of a temporary file of ours is not deleted', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    const name = '.savestate-tmp-bcdfghjklmnpqrstvw-0'
    s.write({ 'x.txt': 'two', [name]: 'the only copy', [`${name}1/inside`]: 'the only copy' })
    await project.rewind(id)
    expect([...s.snapshotOf().keys()]).toEqual(['', name, `${name}1`, `${name}1/inside`, 'x.txt'])
  })

  /** Runs operations as an ordinary user, because permission bits do not stop root. */
  function asUser(s: Scratch, run: readonly unknown[]) {
    const request = JSON.stringify({ home: s.home, project: s.project, run, uid: NOBODY })
    const { status, stdout, stderr } = spawnSync(process.execPath, [CHILD, request], {
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: stdout.includes('"error"') ? 3 : 0, stderr: '' })
    return JSON.parse(stdout) as {
      readonly results?: readonly Readonly<Record<string, unknown>>[]
      readonly error?: { readonly code: string }
    }
  }

  function giveToUser(s: Scratch): void {
    if (process.getuid?.() !== 0) return
    const give = (path: string) => chownSync(path, NOBODY, NOBODY)
    give(s.folder)
    for (const path of s.snapshotOf().keys()) give(join(s.project, path))
  }

  test('an unreadable entry is listed and kept, and a conflict at the path of a restored file', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one', thing: 'one', 'dir/y': 'one' } })
    giveToUser(s)
    const first = asUser(s, [['save', {}]]).results?.[0]
    const to = first?.['id']
    s.write({ 'x.txt': 'two', 'later/made': 'made later', 'later/locked': 'the only copy' })
    s.write({ 'later/closed/inside': 'the only copy' })
    giveToUser(s)
    chmodSync(join(s.project, 'later/locked'), 0)
    chmodSync(join(s.project, 'later/closed'), 0)
    const saved = asUser(s, [['save', {}]])
    expect(saved.results?.[0]).toMatchObject({ created: true, skipped: 2 })
    const { results } = asUser(s, [['rewind', { to }]])
    expect(results?.[0]).toMatchObject({ applied: true })
    chmodSync(join(s.project, 'later/closed'), 0o700)
    expect(readFileSync(join(s.project, 'later/closed/inside'), 'utf8')).toBe('the only copy')
    chmodSync(join(s.project, 'later/locked'), 0o600)
    expect(readFileSync(join(s.project, 'later/locked'), 'utf8')).toBe('the only copy')
    expect(s.snapshotOf().has('later/made')).toBe(false)

    s.write({ thing: 'the only copy' })
    chmodSync(join(s.project, 'thing'), 0)
    expect(asUser(s, [['rewind', { to }]]).error).toMatchObject({
      code: 'REWIND_CONFLICT',
      hint: expect.stringMatching(
        /^Make it and its folder readable \(chmod u\+rX\), move it away, or/,
      ),
    })
    chmodSync(join(s.project, 'thing'), 0o644)
    expect(readFileSync(join(s.project, 'thing'), 'utf8')).toBe('the only copy')
  })

  test('an unreadable folder is reported, and a conflict if a file in it must be restored', async () => {
    await using s = await scratch({ files: { 'full/x': 'one' } })
    s.write({ empty: { folder: 0o755 } })
    giveToUser(s)
    const to = asUser(s, [['save', {}]]).results?.[0]?.['id']
    chmodSync(join(s.project, 'empty'), 0)
    const [rewound] = asUser(s, [['rewind', { to }]]).results ?? []
    expect(rewound).toMatchObject({
      applied: false,
      plan: { keep: [{ path: 'empty', reason: 'not captured: cannot be read' }] },
    })

    chmodSync(join(s.project, 'full'), 0)
    expect(asUser(s, [['rewind', { to }]]).error).toMatchObject({
      code: 'REWIND_CONFLICT',
      message: 'full/x would be overwritten, but is not captured: cannot be read',
    })
  })

  test('an entry that was unreadable and is readable now stays', async () => {
    await using s = await scratch({ files: { 'x.txt': 'one', locked: 'precious', 'dir/y': 'p' } })
    giveToUser(s)
    chmodSync(join(s.project, 'locked'), 0)
    chmodSync(join(s.project, 'dir'), 0)
    const to = asUser(s, [['save', {}]]).results?.[0]?.['id']
    chmodSync(join(s.project, 'locked'), 0o644)
    chmodSync(join(s.project, 'dir'), 0o755)
    s.write({ 'x.txt': 'two' })
    asUser(s, [['rewind', { to }]])
    expect(readFileSync(join(s.project, 'locked'), 'utf8')).toBe('precious')
    expect(readFileSync(join(s.project, 'dir/y'), 'utf8')).toBe('p')
    expect(readFileSync(join(s.project, 'x.txt'), 'utf8')).toBe('one')
  })

  test('an ordinary user gets files back in read-only folders', async () => {
    await using s = await scratch({ files: { 'ro/a': 'one', 'ro/gone': 'one', 'ro/sub/b': 'one' } })
    giveToUser(s)
    chmodSync(join(s.project, 'ro/sub'), 0o555)
    chmodSync(join(s.project, 'ro'), 0o555)
    const before = s.snapshotOf()
    const to = asUser(s, [['save', {}]]).results?.[0]?.['id']
    chmodSync(join(s.project, 'ro'), 0o755)
    s.write({ 'ro/a': 'two', 'ro/gone': null, 'ro/made': 'made later' })
    giveToUser(s)
    chmodSync(join(s.project, 'ro'), 0o555)
    const after = s.snapshotOf()
    expect(asUser(s, [['rewind', { to }]]).results?.[0]).toMatchObject({ applied: true })
    expect(s.snapshotOf()).toEqual(before)
    expect(asUser(s, [['undo', {}]]).results?.[0]).toMatchObject({ applied: true })
    expect(s.snapshotOf()).toEqual(after)
  })
})
