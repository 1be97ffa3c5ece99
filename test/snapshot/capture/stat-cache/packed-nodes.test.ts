// A process with a stat cache enters few folders. After every kind of change, its save must equal that of a process without
// a cache.
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { waitForStableStamps, storeGit } from '../capture-helpers.js'
import { type Scratch, scratch, sdk } from '../../../support/scratch.js'

const FOLDERS = 50
// Enough paths for a node table and the stat thread.
const FILES = 2200

const CHANGES: Readonly<Record<string, (root: string) => void>> = {
  'nothing at all': () => undefined,
  'an edit deep down': (root) => writeFileSync(join(root, 'f7/deep/er/file-7.txt'), 'edited'),
  'an edit of the same size': (root) => writeFileSync(join(root, 'f8/file-58.txt'), '58'),
  'a file more': (root) => writeFileSync(join(root, 'f9/new.txt'), 'new'),
  'a file less': (root) => rmSync(join(root, 'f10/file-10.txt')),
  'a mode': (root) => chmodSync(join(root, 'f11/file-11.txt'), 0o755),
  'the mode of a folder': (root) => chmodSync(join(root, 'f12'), 0o700),
  'a folder less': (root) => rmSync(join(root, 'f13'), { recursive: true }),
  'a folder more': (root) => mkdirSync(join(root, 'f14/empty/inside'), { recursive: true }),
  'a folder with another name': (root) => renameSync(join(root, 'f15'), join(root, 'g15')),
  'a file that is a folder now': (root) => {
    rmSync(join(root, 'f16/file-16.txt'))
    mkdirSync(join(root, 'f16/file-16.txt'))
  },
  'a link instead of a file': (root) => {
    rmSync(join(root, 'f17/file-17.txt'))
    symlinkSync('nowhere', join(root, 'f17/file-17.txt'))
  },
  'an ignore file in the middle': (root) => writeFileSync(join(root, 'f18/.gitignore'), '*.txt\n'),
  'an ignore file at the top': (root) => writeFileSync(join(root, '.gitignore'), 'file-1*\n'),
  'an ignore file that goes': (root) => rmSync(join(root, 'f19/.gitignore')),
  'a file that fits the limit now': (root) => truncateSync(join(root, 'f20/large'), 10),
  'an edit of the same size, at the time of before': (root) => {
    const path = join(root, 'f22/file-22.txt')
    const { atime, mtime } = statSync(path)
    writeFileSync(path, '99')
    utimesSync(path, atime, mtime)
  },
  'another file with the facts of one': (root) => {
    const path = join(root, 'f23/file-23.txt')
    const { atime, mtime } = statSync(path)
    writeFileSync(join(root, 'other'), '98')
    utimesSync(join(root, 'other'), atime, mtime)
    renameSync(join(root, 'other'), path)
  },
  'a name of any bytes': (root) => writeFileSync(anyBytes(root), 'edited'),
  'another time only': (root) => utimesSync(join(root, 'f21/file-21.txt'), 1000, 1000),
}

test('after any change, a save with a cache equals one without', async () => {
  await using s = await scratch()
  s.write({ 'f19/.gitignore': 'file-69.txt\n', 'f20/large': 'x'.repeat(2000) })
  for (let i = 0; i < FILES; i++) {
    const deep = i < FOLDERS ? 'deep/er/' : ''
    s.write({ [`f${i % FOLDERS}/${deep}file-${i}.txt`]: String(i % 100) })
  }
  mkdirSync(join(s.project, 'f24/\né'))
  writeFileSync(anyBytes(s.project), 'before')
  for (let i = 0; i < FOLDERS; i++) s.write({ [`f${i}/file-${i}.txt`]: String(i) })
  await waitForStableStamps()
  const fresh = join(s.folder, 'fresh')
  await savedFiles(s, s.home)
  for (const [change, make] of Object.entries(CHANGES)) {
    make(s.project)
    // It has the old contents, so that it need not write them, but no cached nodes.
    rmSync(join(fresh, 'cache'), { recursive: true, force: true })
    const expected = await savedFiles(s, fresh)
    const seen = [await savedFiles(s, s.home), await savedFiles(s, s.home)]
    expect({ change, seen }).toEqual({ change, seen: [expected, expected] })
  }
})

function anyBytes(root: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/f24/\né/`), Buffer.from([0xff, 0x80, 0x5c])])
}

async function savedFiles(s: Scratch, home: string): Promise<unknown> {
  const store = await sdk.openStore({
    home,
    limits: { maxFileBytes: 1000 },
    inProcess: true,
    durability: 'process',
  })
  try {
    const project = await store.project(s.project)
    const { id } = await project.save()
    const { files, skippedByReason, skippedPaths, sizeBytes } = await project.show(id)
    const name = storeGit({ home }, 'for-each-ref', '--format=%(refname)', `refs/savestate/*/${id}`)
    const tree = storeGit({ home }, 'rev-parse', `${name.toString().trim()}^{tree}`).toString()
    return { tree, skippedByReason, skippedPaths, sizeBytes, isCounted: files >= 0 }
  } finally {
    await store.close()
  }
}
