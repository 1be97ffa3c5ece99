// A rewind of given paths restores these and nothing else, with any file name.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parsePathText } from '../../../src/model/index.js'
import { openProject } from '../../support/safety-project.js'
import { inFolder, scratch } from '../../support/scratch.js'

describe('a rewind of some paths', () => {
  const NAMES = [
    'plain.txt',
    'new\nline',
    ' leading blank',
    'trailing blank ',
    '-rf',
    '--help',
    ':(glob)*',
    ':!plain.txt',
    '*',
    '?[a-z]',
    '"quoted"',
    'back\\slash',
    'größe €',
    'tab\there',
    '"\\377\\376 not UTF-8"',
    '"a\\200\\"b"',
  ]
  /** The text form that the SDK takes: a name that starts with a double quote must be quoted. */
  const textOf = (name: string) => (name === '"quoted"' ? '"\\"quoted\\""' : name)
  const keyOf = (name: string) => parsePathText(textOf(name))

  test.each(NAMES)('restores the file %j and nothing else', async (name) => {
    const all = Object.fromEntries(NAMES.map((other) => [textOf(other), 'one']))
    await using s = await scratch({ files: all })
    const project = await openProject(s)
    const { id } = await project.save({})
    const first = s.snapshotOf()
    s.write(Object.fromEntries(NAMES.map((other) => [textOf(other), 'two'])))
    const expected = s.snapshotOf()
    const own = first.get(keyOf(name))
    if (own !== undefined) expected.set(keyOf(name), own)
    const { changes } = await project.diff({ from: id, paths: [textOf(name)] })
    expect(changes.map(({ path }) => path)).toEqual([textOf(name)])
    const { plan } = await project.rewind({ to: id, paths: [textOf(name)] })
    expect(plan.write.map(({ path }) => path)).toEqual([textOf(name)])
    expect(s.snapshotOf()).toEqual(expected)
  })

  test.each(NAMES)('restores the folder %j and nothing else', async (name) => {
    const inside = (folder: string, file: string) =>
      textOf(folder).startsWith('"')
        ? `${textOf(folder).slice(0, -1)}/${file}"`
        : `${folder}/${file}`
    const others = NAMES.filter((other) => other !== name)
    await using s = await scratch({
      files: { [inside(name, 'gone')]: 'one', [inside(name, 'sub/changed')]: 'one' },
    })
    s.write(Object.fromEntries(others.map((other) => [inside(other, 'x'), 'one'])))
    const project = await openProject(s)
    const { id } = await project.save({})
    const first = s.snapshotOf()
    s.write({
      [inside(name, 'gone')]: null,
      [inside(name, 'sub/changed')]: 'two',
      [inside(name, 'made')]: 'made later',
    })
    s.write(Object.fromEntries(others.map((other) => [inside(other, 'x'), 'two'])))
    const second = s.snapshotOf()
    await project.rewind({ to: id, paths: [textOf(name)] })
    const isInside = (path: string) => path === keyOf(name) || path.startsWith(`${keyOf(name)}/`)
    const expected = [
      ...[...second].filter(([path]) => !isInside(path)),
      ...[...first].filter(([path]) => isInside(path)),
    ]
    expect(s.snapshotOf()).toEqual(new Map(expected))
  })

  test('several paths, redundant dots and slashes, and a deleted parent folder', async () => {
    await using s = await scratch({
      files: { 'a/b/c/x': 'one', 'a/b/y': 'one', 'd/z': 'one', 'e.txt': 'one' },
    })
    chmodSync(join(s.project, 'a/b'), 0o710)
    const project = await openProject(s)
    const { id } = await project.save({})
    s.write({ a: null, 'd/z': 'two', 'e.txt': 'two' })
    await project.rewind({ to: id, paths: ['./a/b/c/', 'd//z'] })
    expect([...s.snapshotOf().keys()]).toEqual([
      '',
      'a',
      'a/b',
      'a/b/c',
      'a/b/c/x',
      'd',
      'd/z',
      'e.txt',
    ])
    expect(s.snapshotOf().get('a/b')?.mode).toBe(0o710)
    expect(readFileSync(join(s.project, 'd/z'), 'utf8')).toBe('one')
    expect(readFileSync(join(s.project, 'e.txt'), 'utf8')).toBe('two')
  })

  test('a named file that was made later is removed, and no other', async () => {
    await using s = await scratch({ files: { x: 'one' } })
    const project = await openProject(s)
    const { id } = await project.save({})
    writeFileSync(inFolder(s.project, '"\\377"'), 'made later')
    s.write({ 'made/a': 'made later', 'made/b': 'made later' })
    await project.rewind({ to: id, paths: ['made/a', '"\\377"'] })
    expect([...s.snapshotOf().keys()]).toEqual(['', 'made', 'made/b', 'x'])
  })
})
