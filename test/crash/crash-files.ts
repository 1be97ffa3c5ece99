// The folder of the crash tests in three states. The changes between them contain every kind of change.
import type { FileSpec } from '../support/scratch.js'

export const FIRST: Readonly<Record<string, FileSpec>> = {
  'modified.txt': 'one\n',
  'unchanged.txt': 'always the same\n',
  'deep/keep.txt': 'keep\n',
  'deep/er/deleted.txt': 'deleted later\n',
  'deep/er/changed.txt': 'changed later\n',
  'gone/x': 'x\n',
  'gone/sub/y': 'y\n',
  'gone/sub/empty': { folder: 0o700 },
  'empty-gone': { folder: 0o711 },
  'empty-kept': { folder: 0o755 },
  'script.sh': { content: '#!/bin/sh\n', mode: 0o755 },
  'secret.txt': { content: 'secret\n', mode: 0o600 },
  'private/inside.txt': 'inside\n',
  private: { folder: 0o700 },
  'file-to-folder': 'a file\n',
  'folder-to-file/a': 'a\n',
  'folder-to-file/b/c': 'c\n',
  'file-to-link': 'a file\n',
  'link-to-file': { link: 'modified.txt' },
  'folder-to-link/d': 'd\n',
  'link-to-folder': { link: 'deep' },
  'retargeted-link': { link: 'nowhere/one' },
  'gone-link': { link: 'deep/keep.txt' },
  'zz/deleted.txt': 'deleted later\n',
  ' odd\nname': 'odd\n',
  '"\\377\\376.bin"': Buffer.from([0, 255, 254]),
}

export const SECOND: Readonly<Record<string, FileSpec>> = {
  'modified.txt': 'one and a half\n',
  'between.txt': 'only in the second\n',
}

export const THIRD: Readonly<Record<string, FileSpec>> = {
  'modified.txt': 'two, and longer\n',
  'between.txt': null,
  'deep/er/deleted.txt': null,
  'deep/er/changed.txt': 'has changed\n',
  gone: null,
  'empty-gone': null,
  'gone-link': null,
  'zz/deleted.txt': null,
  'script.sh': { content: '#!/bin/sh\n', mode: 0o644 },
  'secret.txt': { content: 'secret\n', mode: 0o640 },
  private: { folder: 0o755 },
  'private/inside.txt': 'inside has changed\n',
  'created.txt': 'made later\n',
  'created/deep/new.txt': 'made later\n',
  'created/empty': { folder: 0o755 },
  'created/link': { link: '../created.txt' },
  'later/made.txt': 'made later\n',
  'later/debug.log': 'ignored: the only copy\n',
  ' odd\nname': null,
  '"\\377\\376.bin"': Buffer.from([1, 2, 3]),
  '"later-\\200"': 'made later\n',
}

export const TYPE_CHANGES: readonly (readonly [string, Readonly<Record<string, FileSpec>>])[] = [
  ['file-to-folder', { 'file-to-folder/in/side': 'in a folder\n' }],
  ['folder-to-file', { 'folder-to-file': 'now a file\n' }],
  ['file-to-link', { 'file-to-link': { link: 'modified.txt' } }],
  ['link-to-file', { 'link-to-file': 'now a file\n' }],
  ['folder-to-link', { 'folder-to-link': { link: 'deep' } }],
  ['link-to-folder', { 'link-to-folder/e': 'e\n' }],
  ['retargeted-link', { 'retargeted-link': { link: 'nowhere/two' } }],
]
