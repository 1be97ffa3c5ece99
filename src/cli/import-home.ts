// The folders that `savestate import` reads by default, when no path is given.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { SavestateError } from '../index.js'
import { pathForPeople } from './printable.js'
import type { IMPORT_SYSTEM_KINDS } from './session-commands.js'

type System = (typeof IMPORT_SYSTEM_KINDS)[number]

/** Throws BAD_INPUT for a system without a usual folder, or where that folder does not exist. */
export function homeFolderOf(system: System): string {
  if (system !== 'hermes') {
    throw new SavestateError('BAD_INPUT', 'PATH is missing', {
      hint: `Name what to read: savestate import ${system} PATH`,
    })
  }
  const own = process.env['HERMES_HOME'] ?? ''
  const folder = join(own === '' ? join(homedir(), '.hermes') : own, 'checkpoints')
  if (existsSync(folder)) return folder
  throw new SavestateError('BAD_INPUT', `There is no folder ${pathForPeople(folder)}`, {
    hint: 'Hermes keeps its checkpoints there, or where HERMES_HOME says. To read another folder: savestate import hermes PATH',
  })
}
