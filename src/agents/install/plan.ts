// Plans the file changes of an install or uninstall, to show them before they are made.
import { SavestateError } from '../../index.js'
import { expectCreatable, readConfig } from './edit/config-file.js'
import { type JsonPath, nodeAt, parseJson } from './edit/json-edit.js'
import {
  isBare,
  isMerged,
  isEmptyTarget,
  type JsonTarget,
  mergeOurs,
  missingPaths,
  type Stripping,
  removeOurs,
} from './edit/merge-json.js'
import type { InstallRecord, Records } from './record.js'
import { FILE_MARK, type Target } from './recipes.js'
import {
  type Edited,
  applyEdit,
  NO_UNDO,
  startEdit,
  undoEdits,
  recordUndo,
} from './edit/text-edit.js'
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
  const old = text ?? ''
  const base = record === undefined ? undefined : undoEdits(old, record.undo)
  const known = { made: record?.made, entries: record?.made ?? [] }
  const start = withoutOurs(target, base ?? old, { ...known, onlyStale: true })
  const result = addOurs(target, start)
  // Entries that are up to date stay. An exact undo would keep them, so an uninstall then finds our entries by their form.
  const isClean = withoutOurs(target, start, { ...known, onlyStale: false }) === start
  const undo = isClean ? recordUndo(result) : NO_UNDO
  const made = target.type === 'json' ? madePaths(target, start, record) : []
  const isCreated = text === undefined || (base !== undefined && record?.isCreated === true)
  return {
    path: target.path,
    before: text,
    after: result.text,
    mode: target.type === 'file' ? target.mode : 0o644,
    isSecret: target.type === 'json' && target.isSecret,
    holds: countParts(target),
    record: { undo, isCreated, made, trusts: record?.trusts ?? [] },
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

/** Includes those that an earlier install created and that still exist. */
function madePaths(
  target: JsonTarget,
  text: string,
  record: InstallRecord | undefined,
): readonly JsonPath[] {
  const missing = missingPaths(text, target)
  if (record === undefined || text.trim() === '') return missing
  const root = parseJson(text)
  return [...missing, ...record.made.filter((path) => nodeAt(root, path) !== undefined)]
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

function withoutOurs(target: Target, text: string, stripping: Stripping): string {
  switch (target.type) {
    case 'json':
      return removeOurs(text, target, stripping)
    case 'yaml':
      return removeBlock(startEdit(text)).text
    case 'file':
      if (text === '' || isOurFile(text)) return ''
      throw new SavestateError(
        'CONFIG_INVALID',
        'a file with that name exists that Savestate did not write',
      )
  }
}

function addOurs(target: Target, text: string): Edited {
  switch (target.type) {
    case 'json':
      return mergeOurs(text, target)
    case 'yaml':
      return addBlock(startEdit(text), target.key, target.lines)
    case 'file':
      return applyEdit(startEdit(text), { offset: 0, removed: text, inserted: target.content })
  }
}

/** A string says why the file stays unchanged. */
function planFileUninstall(
  target: Target,
  text: string,
  record: InstallRecord | undefined,
): FileChange | string | undefined {
  const exact = record === undefined ? undefined : undoEdits(text, record.undo)
  const gone = { path: target.path, before: text, after: undefined, mode: 0, record: undefined }
  if (exact !== undefined) return record?.isCreated === true ? gone : { ...gone, after: exact }
  if (target.type === 'file') {
    if (!isOurFile(text)) return undefined
    return text === target.content
      ? gone
      : 'it has been edited since it was written, so it is left as it is'
  }
  const after = withoutOurs(target, text, {
    onlyStale: false,
    made: record?.made,
    // Without a record the entry may be the user's, so it stays.
    entries: record?.made ?? [],
  })
  if (after === text) return undefined
  const isEmpty = target.type === 'json' ? isBare(after, target) : after.trim() === ''
  return isEmpty && record?.isCreated === true ? gone : { ...gone, after }
}

function isOurFile(text: string): boolean {
  return text
    .split('\n')
    .slice(0, 3)
    .some((line) => line.includes(FILE_MARK))
}
