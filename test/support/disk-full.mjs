// Import or preload this before a program: from a certain write on, node's writes fail with ENOSPC, as on a full disk. As a preload,
// SAVESTATE_TEST_FREE_BYTES limits the bytes. SQLite's own writes are not affected.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'

let freeBytes = Number(process.env.SAVESTATE_TEST_FREE_BYTES ?? Infinity)
let writesLeft = Infinity
let writes = 0

/** The write with this number, counted from 1, and all later ones fail. */
export function failWritesFrom(number) {
  writesLeft = number - 1
  writes = 0
}

/** Writes succeed again. Returns how many writes there were. */
export function allowWrites() {
  writesLeft = Infinity
  return writes
}

function claim(syscall, bytes) {
  writes += 1
  writesLeft -= 1
  freeBytes -= bytes
  if (writesLeft >= 0 && freeBytes >= 0) return
  const text = `ENOSPC: no space left on device, ${syscall}`
  throw Object.assign(new Error(text), { code: 'ENOSPC', errno: -28, syscall })
}

/** A full disk still allows to read, rename and remove files. */
function createsFile(flags) {
  if (typeof flags === 'string') return /[wax]/.test(flags)
  return (Number(flags ?? 0) & fs.constants.O_CREAT) !== 0
}

const { openSync, writeSync, mkdirSync, symlinkSync, writeFileSync } = fs
fs.openSync = (path, flags, mode) => {
  if (createsFile(flags)) claim('open', 0)
  return openSync(path, flags, mode)
}
fs.writeSync = (fd, bytes, ...rest) => {
  if (fd > 2) claim('write', bytes.length)
  return writeSync(fd, bytes, ...rest)
}
fs.writeFileSync = (path, content, options) => {
  claim('open', content.length)
  return writeFileSync(path, content, options)
}
fs.mkdirSync = (path, options) => {
  if (!fs.existsSync(path)) claim('mkdir', 0)
  return mkdirSync(path, options)
}
fs.symlinkSync = (target, path, type) => {
  claim('symlink', 0)
  return symlinkSync(target, path, type)
}
syncBuiltinESMExports()
