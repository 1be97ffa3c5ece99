// Describes the contents of a project folder line by line, and changes them randomly.
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
import type { Random } from '../bench/trees/random.js'

const NAMES = ['a', 'b.txt', 'src/c.ts', 'src/deep/d', 'run.sh', 'odd name', 'e/f/g', 'link', 'big']
/** Few, so that contents recur: an object that is garbage now is needed again soon. */
const CONTENTS = 12

/** Changes the contents of the folder. */
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

/** Everything that a checkpoint has to restore, one line per entry. */
export function linesOf(folder: string): readonly string[] {
  const lines: string[] = []
  const visit = (path: string, name: string) => {
    const stats = lstatSync(path)
    if (stats.isSymbolicLink()) {
      lines.push(`link ${name} to ${readlinkSync(path)}`)
      return
    }
    const mode = (stats.mode & 0o7777).toString(8)
    if (stats.isDirectory()) {
      lines.push(`folder ${name} ${mode}`)
      for (const inside of readdirSync(path).sort()) visit(join(path, inside), `${name}/${inside}`)
      return
    }
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)
    lines.push(`file ${name} ${mode} ${digest}`)
  }
  visit(folder, '')
  return lines
}

/** Undefined if they are equal. */
export function differenceOf(now: readonly string[], then: readonly string[]): string | undefined {
  const added = now.filter((line) => !then.includes(line)).map((line) => `+ ${line}`)
  const missing = then.filter((line) => !now.includes(line)).map((line) => `- ${line}`)
  return [...missing, ...added].join('; ') || undefined
}

function contentOf(name: string, number: number): string {
  return `${name} ${number}\n`.repeat(name === 'big' ? 4000 : 5)
}
