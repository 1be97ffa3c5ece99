// What an install or an uninstall would do to files, as data: shown before it is done.
import { SavestateError } from '../../index.js'
import { expectPlace, readConfig } from './edit/config-file.js'
import { type JsonPath, nodeAt, parseJson } from './edit/json-edit.js'
import {
  isBare,
  isMerged,
  isNothing,
  type JsonTarget,
  merged,
  missingPaths,
  type Stripping,
  stripped,
} from './edit/merge-json.js'
import type { InstallRecord, Records } from './record.js'
import { FILE_MARK, type Target } from './recipes.js'
import { type Edited, edited, NO_WAY_BACK, unedited, undone, undoOf } from './edit/text-edit.js'
import { addBlock, blockIn, removeBlock } from './edit/yaml-edit.js'

/** How many of each. */
export type Holds = Readonly<Record<'hooks' | 'rules' | 'plugins' | 'servers', number>>

export type FileChange = {
  readonly path: string
  readonly before: string | undefined
  /** Undefined: the file goes. */
  readonly after: string | undefined
  /** Of a file that is new. */
  readonly mode: number
  /** Closed to others, whatever its mode was. */
  readonly isSecret?: boolean
  /** Our part of the file after an install; left out if nothing of ours is in it then. */
  readonly holds?: Holds
  /** To be kept once it is done; undefined: to be forgotten. */
  readonly record: Omit<InstallRecord, 'folders'> | undefined
}

export type Plan = {
  readonly changes: readonly FileChange[]
  /** What is not done, and why. */
  readonly notes: readonly string[]
  /** The agent gets or loses the right to go back by itself. */
  readonly permission?: 'grant' | 'revoke' | undefined
}

/** Throws CONFIG_INVALID, with the file, for one that cannot be read: it is not touched. */
export function planInstall(targets: readonly Target[], records: Records): Plan {
  const changes = targets.flatMap((target) => {
    const change = inFile(target.path, (text) => {
      if (text === undefined) expectPlace(target.path)
      return installed(target, text, records.get(target.path))
    })
    return change === undefined ? [] : [change]
  })
  return { changes, notes: [] }
}

export function planUninstall(targets: readonly Target[], records: Records): Plan {
  const results = targets.map((target) => {
    const change = inFile(target.path, (text) =>
      text === undefined ? undefined : uninstalled(target, text, records.get(target.path)),
    )
    return typeof change === 'string' ? { note: `${target.path}: ${change}` } : { change }
  })
  return {
    changes: results.flatMap(({ change }) => (change === undefined ? [] : [change])),
    notes: results.flatMap(({ note }) => (note === undefined ? [] : [note])),
  }
}

/** Adds the name of the file to what is wrong with it. */
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

function installed(
  target: Target,
  text: string | undefined,
  record: InstallRecord | undefined,
): FileChange | undefined {
  if (isInstalled(target, text, record)) return undefined
  if (target.type === 'json' && isNothing(target)) {
    const gone = uninstalled(target, text ?? '', record)
    return typeof gone === 'string' ? undefined : gone
  }
  const old = text ?? ''
  const base = record === undefined ? undefined : undone(old, record.undo)
  const known = { made: record?.made, entries: record?.made ?? [] }
  const start = withoutOurs(target, base ?? old, { ...known, onlyStale: true })
  const result = added(target, start)
  // What is there as we wanted it stays where it is. The way back would lead to that, so it is found by its form then.
  const isClean = withoutOurs(target, start, { ...known, onlyStale: false }) === start
  const undo = isClean ? undoOf(result) : NO_WAY_BACK
  const made = target.type === 'json' ? madePaths(target, start, record) : []
  const isCreated = text === undefined || (base !== undefined && record?.isCreated === true)
  return {
    path: target.path,
    before: text,
    after: result.text,
    mode: target.type === 'file' ? target.mode : 0o644,
    isSecret: target.type === 'json' && target.isSecret,
    holds: holdsOf(target),
    record: { undo, isCreated, made, trusts: record?.trusts ?? [] },
  }
}

export const HOLDS_NOTHING: Holds = { hooks: 0, rules: 0, plugins: 0, servers: 0 }

function holdsOf(target: Target): Holds {
  switch (target.type) {
    case 'json': {
      const hooks = target.add.filter(({ at }) => at[0] === 'hooks').length
      const servers = target.entry?.value === undefined ? 0 : 1
      return { ...HOLDS_NOTHING, hooks, rules: target.add.length - hooks, servers }
    }
    case 'yaml':
      return { ...HOLDS_NOTHING, hooks: target.count }
    case 'file':
      return { ...HOLDS_NOTHING, [target.holds]: 1 }
  }
}

/** With those that were made before and are still there. */
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
  if (text === undefined) return target.type === 'json' && isNothing(target)
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
      return stripped(text, target, stripping)
    case 'yaml':
      return removeBlock(unedited(text)).text
    case 'file':
      if (text === '' || isOurFile(text)) return ''
      throw new SavestateError(
        'CONFIG_INVALID',
        'a file with that name exists that Savestate did not write',
      )
  }
}

function added(target: Target, text: string): Edited {
  switch (target.type) {
    case 'json':
      return merged(text, target)
    case 'yaml':
      return addBlock(unedited(text), target.key, target.lines)
    case 'file':
      return edited(unedited(text), { offset: 0, removed: text, inserted: target.content })
  }
}

/** A text says why a file is left as it is. */
function uninstalled(
  target: Target,
  text: string,
  record: InstallRecord | undefined,
): FileChange | string | undefined {
  const exact = record === undefined ? undefined : undone(text, record.undo)
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
    // Without a record it is the person's, or was ours before the store was lost: it stays.
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
