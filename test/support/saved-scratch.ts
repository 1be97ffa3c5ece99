// Saves and restores the project and the store of a scratch folder, for suites in which each case starts from the same state. Both
// keep their paths, because the store identifies the project by its path.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { removeAll, type Scratch } from './scratch.js'

export function saveScratch(s: Scratch, name: string): void {
  mkdirSync(join(s.folder, name))
  copy([s.project, s.home], join(s.folder, name))
}

export function restoreScratch(s: Scratch, name: string): void {
  removeAll(s.project)
  removeAll(s.home)
  copy([join(s.folder, name, 'project'), join(s.folder, name, 'home')], s.folder)
}

function copy(from: readonly string[], to: string): void {
  execFileSync('cp', ['-RPp', ...from, to])
}
