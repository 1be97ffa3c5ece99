// What a project's folder holds at a version, and what it holds now, as one digest.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../bench/random.js'

const NAMES = ['a', 'b.txt', 'src/c.ts', 'src/deep/d', 'run.sh', 'odd name', 'e/f/g', 'link', 'big']
/** So few that contents come back: what is garbage now is wanted again soon. */
const CONTENTS = 12

/** Makes the folder hold something else. */
export function mutate(folder: string, random: Random): void {
  for (const name of readdirSync(folder))
    if (random.below(3) === 0) rmSync(join(folder, name), { recursive: true, force: true })
  for (const name of NAMES) {
    if (random.below(2) === 0) continue
    const path = join(folder, name)
    rmSync(path, { recursive: true, force: true })
    mkdirSync(dirname(path), { recursive: true })
    if (name === 'link') {
      symlinkSync(random.pick(['a', '../outside', 'src']), path)
      continue
    }
    writeFileSync(path, contentOf(name, random.below(CONTENTS)))
    chmodSync(path, random.pick([0o644, 0o600, 0o755]))
  }
}

/** Of everything that a checkpoint has to bring back. */
export function digestOf(folder: string): string {
  const hash = createHash('sha256')
  const visit = (path: string, name: string) => {
    const stats = lstatSync(path)
    const kind = stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : 'file'
    hash.update(`${kind} ${name} ${kind === 'link' ? '' : (stats.mode & 0o7777).toString(8)}\n`)
    if (kind === 'link') hash.update(readlinkSync(path))
    else if (kind === 'file') hash.update(readFileSync(path))
    else
      for (const inside of readdirSync(path).sort()) visit(join(path, inside), `${name}/${inside}`)
  }
  visit(folder, '')
  return hash.digest('hex').slice(0, 24)
}

function contentOf(name: string, number: number): string {
  return `${name} ${number}\n`.repeat(name === 'big' ? 4000 : 5)
}
