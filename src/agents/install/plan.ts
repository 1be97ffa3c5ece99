// Plans the file changes of an install or uninstall, to show them before they are made.
import { SavestateError } from '../../index.js'
import { expectCreatable, readConfig } from './edit/config-file.js'
import {
  isBare,
  isEmptyTarget,
  isMerged,
  mergeOurs,
  missingEntry,
  removeOurs,
} from './edit/merge-json.js'
import type { InstallRecord, Records } from './record.js'
import { FILE_MARK, type Target } from './recipes.js'
import { recordUndo, undoEdits } from './edit/text-edit.js'
import { addBlock, blockIn, removeBlock } from './edit/yaml-edit.js'

/** The number of each kind of entry. */
export type Parts = Readonly<Record<'hooks' | 'rules' | 'plugins' | 'servers', number>>

export type FileChange = {
  readonly path: string
  readonly before: string | undefined
  /** Undefined: the file is removed. */
  readonly after: string | undefined
  /** For a new file. */
  readonly mode: number
  /** Only the user may read it afterwards. */
  readonly isSecret?: boolean
  /** Our entries in the file after an install; omitted if it has none. */
  readonly holds?: Parts
  /** To be stored once the change is made; undefined deletes the stored one. */
  readonly record: Omit<InstallRecord, 'folders'> | undefined
}

export type Plan = {
  readonly changes: readonly FileChange[]
  /** Steps that are left out, with the reason. */
  readonly notes: readonly string[]
  /** The agent gets or loses the permission to rewind. */
  readonly permission?: 'grant' | 'revoke' | undefined
}

/** Throws CONFIG_INVALID, with the path, for a file that cannot be read or edited. */
export function planInstall(targets: readonly Target[], records: Records): Plan {
  const changes = targets.flatMap((target) => {
    const change = inFile(target.path, (text) => {
      if (text === undefined) expectCreatable(target.path)
      return planFileInstall(target, text, records.get(target.path))
    })
    return change === undefined ? [] : [change]
  })
  return { changes, notes: [] }
}

export function planUninstall(targets: readonly Target[], records: Records): Plan {
  const results = targets.map((target) => {
    const change = inFile(target.path, (text) =>
      text === undefined ? undefined : planFileUninstall(target, text, records.get(target.path)),
    )
    return typeof change === 'string' ? { note: `${target.path}: ${change}` } : { change }
  })
  return {
    changes: results.flatMap(({ change }) => (change === undefined ? [] : [change])),
    notes: results.flatMap(({ note }) => (note === undefined ? [] : [note])),
  }
}

/** Adds the path of the file to CONFIG_INVALID errors. */
export function inFile<Result>(path: string, work: (text: string | undefined) => Result): Result {
  try {
    return work(readConfig(path))
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'CONFIG_INVALID') throw error
    const hint = error.hint ?? 'Fix it, then run the command again.'
    throw new SavestateError('CONFIG_INVALID', `${path} is left as it is: ${error.message}`, {
      hint,
      cause: error,
    })
  }
}

function planFileInstall(
  target: Target,
  text: string | undefined,
  record: InstallRecord | undefined,
): FileChange | undefined {
  if (isInstalled(target, text, record)) return undefined
  if (target.type === 'json' && isEmptyTarget(target)) {
    const gone = planFileUninstall(target, text ?? '', record)
    return typeof gone === 'string' ? undefined : gone
  }
  const start = undoEdits(text ?? '', record?.undo) ?? withoutOurs(target, text ?? '', record)
  const after = addOurs(target, start)
  return {
    path: target.path,
    before: text,
    after,
    mode: target.type === 'file' ? target.mode : 0o644,
    isSecret: target.type === 'json' && target.isSecret,
    holds: countParts(target),
    record: {
      undo: recordUndo(start, after),
      isCreated: text === undefined || record?.isCreated === true,
      made: target.type === 'json' ? missingEntry(start, target) : [],
      trusts: record?.trusts ?? [],
    },
  }
}

export const NO_PARTS: Parts = { hooks: 0, rules: 0, plugins: 0, servers: 0 }

function countParts(target: Target): Parts {
  switch (target.type) {
    case 'json': {
      const hooks = target.add.filter(({ at }) => at[0] === 'hooks').length
      const servers = target.entry?.value === undefined ? 0 : 1
      return { ...NO_PARTS, hooks, rules: target.add.length - hooks, servers }
    }
    case 'yaml':
      return { ...NO_PARTS, hooks: target.count }
    case 'file':
      return { ...NO_PARTS, [target.holds]: 1 }
  }
}

function isInstalled(
  target: Target,
  text: string | undefined,
  record: InstallRecord | undefined,
): boolean {
  if (text === undefined) return target.type === 'json' && isEmptyTarget(target)
  switch (target.type) {
    case 'json':
      return isMerged(text, target, record?.made ?? [])
    case 'yaml':
      return blockIn(text)?.join('\n') === target.lines.join('\n')
    case 'file':
      return text === target.content
  }
}

function withoutOurs(target: Target, text: string, record: InstallRecord | undefined): string {
  switch (target.type) {
    case 'json':
      return removeOurs(text, target, record?.made ?? [])
    case 'yaml':
      return removeBlock(text)
    case 'file':
      if (text === '' || isOurFile(text)) return ''
      throw new SavestateError(
        'CONFIG_INVALID',
        'a file with that name exists that Savestate did not write',
      )
  }
}

function addOurs(target: Target, text: string): string {
  switch (target.type) {
    case 'json':
      return mergeOurs(text, target)
    case 'yaml':
      return addBlock(text, target.key, target.lines)
    case 'file':
      return target.content
  }
}

/** A string says why the file stays unchanged. */
function planFileUninstall(
  target: Target,
  text: string,
  record: InstallRecord | undefined,
): FileChange | string | undefined {
  const gone = { path: target.path, before: text, after: undefined, mode: 0, record: undefined }
  const exact = undoEdits(text, record?.undo)
  if (exact === undefined && target.type === 'file') {
    if (!isOurFile(text)) return undefined
    return text === target.content
      ? gone
      : 'it has been edited since it was written, so it is left as it is'
  }
  const after = exact ?? withoutOurs(target, text, record)
  if (after === text) return undefined
  const isEmpty = after.trim() === '' || (target.type === 'json' && isBare(after, target))
  return isEmpty && record?.isCreated === true ? gone : { ...gone, after }
}

function isOurFile(text: string): boolean {
  return text
    .split('\n')
    .slice(0, 3)
    .some((line) => line.includes(FILE_MARK))
}
