// The project and the store of a scratch folder, put away under a name and brought back: for suites in which each
// case begins at the same place. Both stay at their paths, by which the store knows the project.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeAll, type Scratch } from './scratch.js'

export function keep(s: Scratch, name: string): void {
  mkdirSync(join(s.folder, name))
  copy([s.project, s.home], join(s.folder, name))
}

export function recall(s: Scratch, name: string): void {
  removeAll(s.project)
  removeAll(s.home)
  copy([join(s.folder, name, 'project'), join(s.folder, name, 'home')], s.folder)
}

function copy(from: readonly string[], to: string): void {
  execFileSync('cp', ['-RPp', ...from, to])
}
