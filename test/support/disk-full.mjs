// Imported or preloaded before a program: node's writes find no room from a certain one on, as on a disk that
// nobody clears. As a preload, SAVESTATE_TEST_ROOM says how many bytes still fit. SQLite writes by itself and is not
// affected.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import process from 'node:process'

let roomBytes = Number(process.env.SAVESTATE_TEST_ROOM ?? Infinity)
let writesLeft = Infinity
let writes = 0

/** The write with this number, from 1 on, and all after it find no room. */
export function fillUpAt(number) {
  writesLeft = number - 1
  writes = 0
}

/** There is room again. Returns how many writes there were. */
export function makeRoom() {
  writesLeft = Infinity
  return writes
}

function claim(syscall, bytes) {
  writes += 1
  writesLeft -= 1
  roomBytes -= bytes
  if (writesLeft >= 0 && roomBytes >= 0) return
  const text = `ENOSPC: no space left on device, ${syscall}`
  throw Object.assign(new Error(text), { code: 'ENOSPC', errno: -28, syscall })
}

/** Only what makes something new: a full disk lets files be read, renamed and removed. */
function makesNew(flags) {
  if (typeof flags === 'string') return /[wax]/.test(flags)
  return (Number(flags ?? 0) & fs.constants.O_CREAT) !== 0
}

const { openSync, writeSync, mkdirSync, symlinkSync, writeFileSync } = fs
fs.openSync = (path, flags, mode) => {
  if (makesNew(flags)) claim('open', 0)
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
