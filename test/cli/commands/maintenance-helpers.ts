// Shared by the tests of the commands for the store.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Ended, type Scratch, scratch } from '../program.js'

export function setStore(s: Scratch, config: unknown): void {
  mkdirSync(s.home, { recursive: true, mode: 0o700 })
  writeFileSync(join(s.home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
}

/** Three checkpoints of the project, one of them pinned. */
export function threeCheckpoints(): Scratch {
  const s = scratch()
  for (const content of ['one', 'two', 'three']) {
    s.write({ 'a.txt': content })
    s.run(['save', '-m', content])
  }
  s.run(['pin', '3'])
  return s
}

export const count = (s: Scratch) =>
  (s.json(['list']) as { checkpoints: unknown[] }).checkpoints.length

/** On a terminal, with this answer typed. */
export function answered(s: Scratch, command: string, answer: string): Ended {
  return s.shell(`script -qec 'savestate ${command}' /dev/null`, { input: `${answer}\n` })
}
