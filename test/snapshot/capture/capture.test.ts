// A checkpoint contains exactly the bytes of the folder (I9), verified with git alone.
import { chmodSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  capturedFiles,
  openProject,
  saved,
  skippedFor,
  storedBytes,
  storedMode,
  storedTree,
  storeGit,
} from './capture-helpers.js'
import { inFolder, scratchWithThreads as scratch } from '../../support/scratch.js'

test('bytes are stored unchanged, without git conversions', async () => {
  const contents: Record<string, string | Buffer> = {
    'crlf.txt': 'one\r\ntwo\r\n',
    'mixed.txt': 'one\r\ntwo\nthree\r',
    'eol.bat': 'echo\n',
    'filtered.dat': '$Id$ secret\n',
    'ident.c': '$Id$\n',
    'utf16.txt': Buffer.from('\ufefftext\r\n', 'utf16le'),
    'pointer.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`,
    'real.bin': Buffer.from([0, 13, 10, 255, 254, 0]),
    'no-newline': 'end',
    empty: '',
    '.gitattributes': [
      '* text=auto eol=crlf',
      '*.bat text eol=crlf',
      '*.dat filter=hide',
      '*.c ident',
      '*.bin filter=lfs diff=lfs merge=lfs -text',
      'utf16.txt text working-tree-encoding=UTF-16LE',
      '',
    ].join('\n'),
  }
  await using s = await scratch({ files: contents })
  s.git(['init', '-q'])
  s.git(['config', 'core.autocrlf', 'true'])
  s.git(['config', 'filter.hide.clean', 'sed s/secret/hidden/'])
  const { project } = await openProject(s)
  const { ref } = await saved(project)
  expect(capturedFiles(s, ref)).toEqual(Object.keys(contents).sort())
  for (const [path, content] of Object.entries(contents))
    expect([path, storedBytes(s, ref, path)]).toEqual([path, Buffer.from(content)])
})

test('links are stored as links, never followed', async () => {
  const targets: Record<string, string> = {
    'to-file': 'inside/file',
    'to-folder': 'inside',
    'to-nothing': 'no/such/thing',
    'to-itself': 'to-itself',
    'to-parent': '.',
    'to-outside': '../outside',
    absolute: '/etc',
    'inside/up': '../inside',
    'loop-a': 'loop-b',
    'loop-b': 'loop-a',
    newline: 'a\nb',
    blank: ' ',
    'x.log.link': '../x.log',
  }
  await using s = await scratch({ files: { 'inside/file': 'content' } })
  mkdirSync(join(s.folder, 'outside'))
  writeFileSync(join(s.folder, 'outside/precious'), 'not ours')
  for (const [path, target] of Object.entries(targets)) symlinkSync(target, join(s.project, path))
  const { project } = await openProject(s)
  const { ref, fileCount } = await saved(project)
  const stored = storedTree(s, ref)
  expect([...stored.keys()].sort()).toEqual(
    [...Object.keys(targets), 'inside', 'inside/file'].sort(),
  )
  for (const [path, target] of Object.entries(targets)) {
    const content = storedBytes(s, ref, path).toString()
    expect([path, stored.get(path)?.type, content]).toEqual([path, 'link', target])
  }
  expect(fileCount).toBe(Object.keys(targets).length + 1)
})

test('a link with a target that is not UTF-8 is restored byte for byte', async () => {
  const target = Buffer.from('caf\xe9/\xff', 'latin1')
  await using s = await scratch({ files: { link: { link: target } } })
  const { project } = await openProject(s)
  const { ref, id } = await saved(project)
  expect(storedBytes(s, ref, 'link')).toEqual(target)
  const before = s.snapshotOf()
  s.write({ link: null })
  await project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
})

const FILE_MODES = [0o600, 0o644, 0o755, 0o700, 0o444, 0o400, 0o555, 0o4755, 0o2755, 0o664, 0o1644]
const FOLDER_MODES = [0o755, 0o700, 0o750, 0o555, 0o1777, 0o2775, 0o3777, 0o711 | 0o400]

test('every mode bit of files and folders is stored, in git as far as possible and in full in the modes blob', async () => {
  await using s = await scratch()
  const modes = new Map<string, number>()
  for (const mode of FILE_MODES) {
    const path = `file-${mode.toString(8)}`
    s.write({ [path]: { content: `content of ${path}`, mode } })
    modes.set(path, mode)
  }
  for (const mode of FOLDER_MODES) {
    const path = `folder-${mode.toString(8)}`
    s.write({ [`${path}/file`]: 'in it', [path]: { folder: mode } })
    modes.set(`${path}/`, mode)
  }
  chmodSync(s.project, 0o710)
  modes.set('/', 0o710)
  const { project } = await openProject(s)
  const { ref, id } = await saved(project)
  const stored = storedTree(s, ref)
  for (const [path, mode] of modes) {
    const isFolder = path.endsWith('/')
    const like = isFolder ? 'folder' : (mode & 0o100) === 0 ? 'file' : 'executable'
    expect([path, storedMode(s, ref, { path, like }).toString(8)]).toEqual([path, mode.toString(8)])
    expect([path, stored.get(path.replace(/\/$/, ''))?.type]).toEqual([
      path,
      path === '/' ? undefined : like,
    ])
  }

  const before = s.snapshotOf()
  for (const path of modes.keys())
    chmodSync(join(s.project, path), path.endsWith('/') ? 0o777 : 0o666)
  await project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
  for (const path of modes.keys()) {
    if (path === '/') continue
    chmodSync(join(s.project, path), 0o777)
    s.write({ [path.replace(/\/$/, '')]: null })
  }
  await project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
})

test('a change of mode alone makes a checkpoint: of a file, a folder and the project itself', async () => {
  await using s = await scratch({ files: { file: 'x', 'folder/file': 'y' } })
  chmodSync(s.project, 0o755)
  const { project } = await openProject(s)
  await project.save()
  const created = async (path: string, mode: number) => {
    chmodSync(join(s.project, path), mode)
    const { created: isNew, changes } = await saved(project)
    return [isNew, changes.map(({ path: at, change, modeAfter }) => [at, change, modeAfter])]
  }
  expect(await created('file', 0o600)).toEqual([true, [['file', 'mode', '0600']]])
  expect(await created('file', 0o700)).toEqual([true, [['file', 'mode', '0700']]])
  expect(await created('folder', 0o700)).toEqual([true, [['folder', 'mode', '0700']]])
  expect(await created('', 0o711)).toEqual([true, [['', 'mode', '0711']]])
  expect(await created('', 0o711)).toEqual([false, [['', 'mode', '0711']]])
})

test('empty and nested empty folders survive a collection and are restored', async () => {
  await using s = await scratch({
    files: {
      empty: { folder: 0o755 },
      'a/b/c': { folder: 0o700 },
      'a/d': { folder: 0o755 },
      'with/file': 'x',
      'with/empty/deep': { folder: 0o755 },
    },
  })
  const before = s.snapshotOf()
  const { store, project } = await openProject(s)
  const { id, ref } = await saved(project)
  await store.close()
  storeGit(s, '-c', 'gc.pruneExpire=now', 'gc', '--quiet', '--prune=now')
  expect(s.fsck()).toBe('')
  const folders = [...storedTree(s, ref)].flatMap(([path, { type }]) =>
    type === 'folder' ? path : [],
  )
  expect(folders.sort()).toEqual(
    ['empty', 'a', 'a/b', 'a/b/c', 'a/d', 'with', 'with/empty', 'with/empty/deep'].sort(),
  )
  s.write({ empty: null, a: null, with: null })
  const again = await openProject(s)
  await again.project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
})

test('an empty project can be saved', async () => {
  await using s = await scratch()
  const { project } = await openProject(s)
  const first = await saved(project)
  expect([first.created, first.fileCount, capturedFiles(s, first.ref)]).toEqual([true, 0, []])
  s.write({ file: 'x' })
  await project.save()
  await project.rewind(first.id)
  expect([...s.snapshotOf().keys()]).toEqual([''])
})

const LONG = 'n'.repeat(255)
const NASTY_NAMES = [
  '\xff',
  '\xffolder/\xfe\xfd',
  'caf\xe9',
  'caf\xc3\xa9',
  'cafe\xcc\x81',
  'new\nline',
  '\n',
  ' leading',
  'trailing ',
  ' ',
  '\t',
  '-rf',
  '--',
  '-',
  ':(top)x',
  ':!x',
  ':',
  '"quoted"',
  '"',
  'back\\slash',
  '\\',
  "it's",
  '*',
  '?',
  '[a]',
  '#x',
  '!x',
  '~',
  '$HOME',
  '$(touch x)',
  '`x`',
  'a b/c d/ e ',
  '...',
  '.x',
  'x.',
  'con',
  'NUL',
  '\x01\x7f',
  '\xe2\x80\xae',
  '\xef\xbf\xbd',
  '\xef\xbb\xbf',
  'A/a/A',
  'files',
  'modes',
  `${LONG}/${LONG}/${LONG}`,
  '\xff'.repeat(255),
  '\xf0\x9f\x92\xa9'.repeat(63),
]

test('every valid file name is stored and restored', async () => {
  await using s = await scratch()
  for (const name of NASTY_NAMES) {
    const path = Buffer.concat([Buffer.from(`${s.project}/`), Buffer.from(name, 'latin1')])
    mkdirSync(path.subarray(0, path.lastIndexOf('/')), { recursive: true })
    writeFileSync(path, `content of ${name}`, 'latin1')
  }
  const { project } = await openProject(s)
  const { id, ref, skipped } = await saved(project)
  expect(skipped).toBe(0)
  expect(capturedFiles(s, ref)).toEqual([...NASTY_NAMES].sort())
  for (const name of NASTY_NAMES) {
    expect(storedBytes(s, ref, name).toString('latin1')).toBe(`content of ${name}`)
  }

  const before = s.snapshotOf()
  for (const name of [...before.keys()].filter((path) => path !== '' && !path.includes('/')))
    s.write({ [quoted(name)]: null })
  expect([...s.snapshotOf().keys()]).toEqual([''])
  await project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
})

const RESERVED = [
  '.GIT',
  '.Git',
  'git~1',
  'GIT~1',
  '.git ',
  '.git.',
  '.git. .',
  '.git:stream',
  '.git::$INDEX_ALLOCATION',
  'git~1 ',
  '.g\u200cit',
  '\u200e.git',
  '.git\ufeff',
  '.gi\u206aT',
  'x\\.git',
  'a\\git~1\\b',
]

test('a name that git treats as .git is skipped and listed, and the store stays valid', async () => {
  await using s = await scratch({ files: { ok: 'x' } })
  for (const name of RESERVED) writeFileSync(join(s.project, name), 'reserved')
  mkdirSync(join(s.project, 'sub/.gIt'), { recursive: true })
  writeFileSync(join(s.project, 'sub/.gIt/config'), 'nobody runs this')
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(skippedFor(details, 'reserved')).toEqual([...RESERVED, 'sub/.gIt'].sort())
  expect(details.skippedByReason).toEqual({ reserved: RESERVED.length + 1 })
  expect(capturedFiles(s, details.ref)).toEqual(['ok'])
  expect(s.fsck()).toBe('')
})

test('a .git followed by invalid UTF-8 is skipped, because git ignores the rest', async () => {
  const names = ['".git\\377"', '".git\\300\\200x"', '.git\uffff']
  await using s = await scratch({ files: { ok: 'x' } })
  for (const name of names) s.write({ [name]: 'reserved' })
  const { project } = await openProject(s)
  const details = await saved(project)
  expect(s.fsck()).toBe('')
  expect(skippedFor(details, 'reserved')).toEqual([...names].sort())
})

test('names that only resemble .git are captured', async () => {
  const names = ['.gitignore', '.github', 'git', 'git~2', 'digit~1', '.gitt', 'x.git', '.git-x']
  names.push(
    '.gitattributes',
    '.gitmodules',
    '.gitkeep',
    '.mailmap',
    'gitmod~1',
    'gi7eba~1',
    '.gi t',
  )
  await using s = await scratch({ files: Object.fromEntries(names.map((name) => [name, ''])) })
  const { project } = await openProject(s)
  const { ref, skipped } = await saved(project)
  expect([capturedFiles(s, ref), skipped]).toEqual([[...names].sort(), 0])
})

test('files with a meaning to git are stored like any other', async () => {
  const attributes = `${'a'.repeat(5000)} text\n* [broken\n`
  const modules = [
    '[submodule "../../../evil"]',
    '\tpath = -x',
    '\turl = ext::sh -c evil',
    '\tupdate = !touch /tmp/evil',
    '[submodule "--upload-pack=x"]',
    '\turl = -u./evil',
    '[',
  ].join('\n')
  await using s = await scratch({
    files: {
      '.gitmodules': modules,
      '.gitattributes': attributes,
      'linked/.gitmodules': { link: '/etc/passwd' },
      'linked/.gitattributes': { link: '../x' },
      'linked/.gitignore': { link: '../x' },
      'linked/.mailmap': { link: '../x' },
      'folder/.gitmodules/file': 'a folder of that name',
      'folder/.gitattributes/file': 'a folder of that name',
      'large/.gitattributes': 'x'.repeat(200_000),
      'binary/.gitmodules': Buffer.from([0, 255, 10, 0]),
    },
  })
  const { project } = await openProject(s)
  const before = s.snapshotOf()
  const { id, ref, skipped } = await saved(project)
  expect(s.fsck()).toBe('')
  expect(skipped).toBe(0)
  expect(storedBytes(s, ref, '.gitmodules').toString()).toBe(modules)
  expect(storedBytes(s, ref, '.gitattributes').toString()).toBe(attributes)
  for (const path of ['.gitmodules', '.gitattributes', 'linked', 'folder', 'large', 'binary'])
    s.write({ [path]: null })
  await project.rewind(id)
  expect(s.snapshotOf()).toEqual(before)
})

test('a path that changes its type is saved with its current type', async () => {
  await using s = await scratch({ files: { a: 'file', 'b/file': 'x', c: { link: 'a' } } })
  const { project } = await openProject(s)
  await project.save()
  s.write({ a: null, b: null, c: null })
  s.write({ 'a/x': 'now a folder', b: { link: 'a' }, c: 'now a file' })
  const { ref, changes } = await saved(project)
  const types = [...storedTree(s, ref)].map(([path, { type }]) => [path, type])
  expect(types).toEqual([
    ['a', 'folder'],
    ['a/x', 'file'],
    ['b', 'link'],
    ['c', 'file'],
  ])
  expect(changes.map(({ path, change }) => [path, change])).toEqual([
    ['a', 'type'],
    ['a/x', 'added'],
    ['b', 'type'],
    ['b/file', 'removed'],
    ['c', 'type'],
  ])
})

test('the totals of a checkpoint match the folder', async () => {
  await using s = await scratch({
    files: { 'a.txt': 'one\ntwo\n', 'b.bin': Buffer.from([0, 1, 2]), 'c/d': 'no newline' },
  })
  symlinkSync('a.txt', join(s.project, 'link'))
  const { project } = await openProject(s)
  const first = await saved(project)
  const { fileCount, sizeBytes, files, insertions, deletions, skipped } = first
  expect({ fileCount, sizeBytes, files, insertions, deletions, skipped }).toEqual({
    fileCount: 4,
    sizeBytes: 8 + 3 + 10 + lstatSync(join(s.project, 'link')).size,
    files: 4,
    insertions: 2 + 0 + 1 + 1,
    deletions: 0,
    skipped: 0,
  })
  s.write({ 'a.txt': 'one\n2\nthree\n', 'c/d': null })
  const second = await saved(project)
  expect([second.files, second.insertions, second.deletions]).toEqual([2, 2, 2])
})

function quoted(name: string): string {
  const escaped = [...Buffer.from(name, 'latin1')]
    .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
    .join('')
  expect(inFolder('', `"${escaped}"`).subarray(1)).toEqual(Buffer.from(name, 'latin1'))
  return `"${escaped}"`
}
