// Writes files of a folder in a tight loop, in place and by rename, until its stdin ends. Then it prints, as JSON, how many
// contents it wrote, and which of them another process removed from their paths.
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

const [folder, seed, longestPauseMs] = process.argv.slice(2)
let random = Number(seed)
let isOver = false
let writes = 0
/** Contents that another process removed from their paths. */
const replaced = new Set()
/** Contents that were written to a file without a name: no program could have saved them. */
const tooLate = new Set()

process.stdin.on('end', () => (isOver = true)).resume()

await Promise.all(
  ['in-place-1', 'in-place-2', 'by-rename-1', 'by-rename-2', 'deep/in-place', 'deep/by-rename'].map(
    run,
  ),
)
process.stdout.write(JSON.stringify({ writes, replaced: [...replaced], tooLate: [...tooLate] }))

async function run(name) {
  const path = join(folder, name)
  const write = name.includes('in-place') ? writeInPlace : writeByRename
  let last
  for (let number = 0; !isOver; number++) {
    await new Promise((resolve) => setTimeout(resolve, next() * Number(longestPauseMs)))
    const present = contentOf(path)
    const content = `${name} ${seed} ${number} ${'x'.repeat(Math.floor(next() * 200))}\n`
    try {
      write(path, content, present !== undefined)
    } catch (error) {
      // The file disappeared or reappeared since it was read, or its folder is gone: nothing was written.
      if (!['ENOENT', 'EEXIST', 'ENOTDIR'].includes(error.code)) throw error
      continue
    }
    if (last !== undefined && present !== last) replaced.add(last)
    writes += 1
    last = content
  }
  if (last !== undefined && contentOf(path) !== last) replaced.add(last)
}

/** Overwrites only existing files, so that this process never loses its own content unnoticed. */
function writeInPlace(path, content, isThere) {
  const fd = openSync(path, isThere ? 'r+' : 'wx')
  try {
    ftruncateSync(fd, 0)
    writeSync(fd, content)
    if (fstatSync(fd).nlink === 0) tooLate.add(content)
  } finally {
    closeSync(fd)
  }
}

function writeByRename(path, content, isThere) {
  const temporary = `${path}.new`
  writeFileSync(temporary, content)
  if (isThere) renameSync(temporary, path)
  else {
    linkSync(temporary, path)
    unlinkSync(temporary)
  }
}

function contentOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  }
}

function next() {
  random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
  return random / 2 ** 32
}
