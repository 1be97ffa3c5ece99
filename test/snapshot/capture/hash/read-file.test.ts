import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolders } from '../../../support/scratch-git.js'
import { listFolder, VANISHED } from '../../../../src/snapshot/capture/scan/list-folder.js'
import { readLink, readStable } from '../../../../src/snapshot/capture/hash/read-file.js'
import { lstat } from '../../../../src/snapshot/capture/stat-cache/stats.js'

const folder = scratchFolders()

test('a read returns the whole file with its stamp', () => {
  const path = join(folder(), 'file')
  writeFileSync(path, Buffer.alloc(100_000, 'content'))
  const read = readStable(path)
  expect(typeof read === 'string' ? read : read.content.equals(readFileSync(path))).toBe(true)
})

test('a file with more content than its size is unreadable, not empty', () => {
  // Files in /proc have size 0.
  expect(lstat('/proc/version')).toMatchObject({ size: 0n })
  expect(readStable('/proc/version')).toBe('unreadable')
  const empty = join(folder(), 'empty')
  writeFileSync(empty, '')
  expect(readStable(empty)).toMatchObject({ content: Buffer.alloc(0) })
})

test('a pipe does not block a read, and a link is not followed', () => {
  const at = folder()
  execFileSync('mkfifo', [join(at, 'pipe')])
  mkdirSync(join(at, 'folder'))
  writeFileSync(join(at, 'file'), 'x')
  symlinkSync('file', join(at, 'link'))
  const names = ['pipe', 'folder', 'link', 'none', 'file/x']
  const faults = ['unstable', 'gone', 'gone']
  const one = names.map((name) => readStable(join(at, name)))
  expect(one).toEqual(['unstable', 'unstable', ...faults])
})

test('reading a link returns the exact bytes of its target', () => {
  const at = folder()
  symlinkSync(Buffer.from('\xff\n', 'latin1'), join(at, 'link'))
  writeFileSync(join(at, 'file'), 'x')
  expect(readLink(join(at, 'link'))).toEqual(Buffer.from('\xff\n', 'latin1'))
  expect([readLink(join(at, 'file')), readLink(join(at, 'none'))]).toEqual(['unstable', 'gone'])
})

test('a path below a link to itself is gone', () => {
  const at = folder()
  symlinkSync('loop', join(at, 'loop'))
  const inside = join(at, 'loop', 'x')
  expect([readLink(inside), lstat(inside), listFolder(inside)]).toEqual([
    'gone',
    undefined,
    VANISHED,
  ])
})

test('a file whose name is not UTF-8 is read', () => {
  const at = folder()
  writeFileSync(Buffer.from(`${at}/\xff`, 'latin1'), 'x')
  const read = readStable(`${at}/\xff`)
  expect(typeof read === 'string' ? read : read.content.toString()).toBe('x')
})

test('a file without any permission is read by root and unreadable for others', () => {
  const path = join(folder(), 'file')
  writeFileSync(path, 'x')
  chmodSync(path, 0)
  const read = readStable(path)
  const expected = process.getuid?.() === 0 ? 'x' : 'unreadable'
  expect(typeof read === 'string' ? read : read.content.toString()).toBe(expected)
})

test('a file that is being overwritten is not read torn, unlike with a plain read', async () => {
  const path = join(folder(), 'busy')
  const size = 150_000
  writeFileSync(path, Buffer.alloc(size, 'A'))
  // Each content repeats one letter, so two letters mean a torn read.
  const writer = spawn(process.execPath, [
    '-e',
    `const fs = require('node:fs')
     const fd = fs.openSync(${JSON.stringify(path)}, 'r+')
     const contents = [...'ABCDEFGH'].map((letter) => Buffer.alloc(${size}, letter))
     for (let i = 0; ; i++) {
       fs.writeSync(fd, contents[i % 8], 0, ${size}, 0)
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random())
     }`,
  ])
  try {
    await new Promise((resolve) => setTimeout(resolve, 200))
    // If the kernel pauses a writer during a write, the file seems complete. That is common on a loaded machine, but only for
    // a while; an unsteady read would be torn as often as a plain one in every attempt.
    const looks = [lookFor(path, 2500)]
    while (!looks.some(isSteady) && looks.length < 3) looks.push(lookFor(path, 2500))
    expect({ looks, isSteady: looks.some(isSteady) }).toMatchObject({ isSteady: true })
  } finally {
    writer.kill('SIGKILL')
    await new Promise((resolve) => writer.on('close', resolve))
  }
})

type Look = { readonly tornByPlainRead: number; readonly torn: number; readonly whole: number }

function lookFor(path: string, ms: number): Look {
  const look = { tornByPlainRead: 0, torn: 0, whole: 0 }
  const end = Date.now() + ms
  while (Date.now() < end) {
    if (isTorn(readFileSync(path))) look.tornByPlainRead += 1
    const read = readStable(path)
    if (typeof read === 'string') continue
    look[isTorn(read.content) ? 'torn' : 'whole'] += 1
  }
  return look
}

function isSteady({ tornByPlainRead, torn, whole }: Look): boolean {
  return whole > 0 && torn <= Math.max(2, tornByPlainRead / 5)
}

function isTorn(content: Buffer): boolean {
  return content.length > 0 && !content.equals(Buffer.alloc(content.length, content.subarray(0, 1)))
}
