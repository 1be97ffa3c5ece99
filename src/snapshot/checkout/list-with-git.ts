// Runs git to list the paths in an index that we do not decode, such as a split one. Git sees only a stand-in repository
// with copies of the index files, never the user's repository: even `ls-files` writes (it sets the time of a shared index),
// and the user's configuration could make it run programs or fetch.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BytePath, fsPath, joinPath, ROOT } from '../../model/index.js'
import { IndexUnsupported, readObjectFormat } from './index-format.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'

export const MAX_INDEX_BYTES = 1024 * 1024 * 1024

/** Throws IndexUnsupported, or the error of running git, if git can't read the index either. */
export function listNamesWithGit(repository: Repository): readonly BytePath[] {
  const indexes = readIndexFiles(repository)
  if (indexes.length === 0) return []
  const format = readObjectFormat(repository)
  const standIn = mkdtempSync(join(tmpdir(), 'savestate-index-'))
  try {
    fillStandIn(standIn, { indexes, format })
    const records = runListing(standIn)
    checkComplete(records, indexes)
    return parseRecords(records)
  } finally {
    rmSync(standIn, { recursive: true, force: true })
  }
}

type IndexFile = { readonly name: string; readonly bytes: Buffer }

/** The index and the shared index files that a split index may refer to. */
function readIndexFiles({ gitDir }: Repository): readonly IndexFile[] {
  const index = readRegularFile(`${gitDir}/index`, MAX_INDEX_BYTES)
  if (index === 'absent') return []
  if (index === 'unfit') throw new IndexUnsupported('not a regular file')
  const files: IndexFile[] = [{ name: 'index', bytes: index }]
  for (const name of readdirSync(fsPath(gitDir), 'latin1')) {
    if (!/^sharedindex\.[0-9a-f]+$/.test(name)) continue
    const bytes = readRegularFile(`${gitDir}/${name}`, MAX_INDEX_BYTES)
    if (typeof bytes !== 'string') files.push({ name, bytes })
  }
  return files
}

function fillStandIn(
  standIn: string,
  { indexes, format }: { readonly indexes: readonly IndexFile[]; readonly format: string },
): void {
  for (const folder of ['git/refs', 'git/objects', 'worktree']) {
    mkdirSync(join(standIn, folder), { recursive: true })
  }
  const config = ['[core]']
  if (format === 'sha1') config.push('repositoryFormatVersion = 0')
  else config.push('repositoryFormatVersion = 1', '[extensions]', `objectFormat = ${format}`)
  const files = [
    { name: 'HEAD', bytes: 'ref: refs/heads/none\n' },
    { name: 'config', bytes: `${config.join('\n')}\n` },
    ...indexes,
  ]
  for (const { name, bytes } of files) writeFileSync(join(standIn, 'git', name), bytes)
}

/** Each `MODE OBJECT STAGE<tab>NAME`. */
function runListing(standIn: string): readonly string[] {
  const gitDir = join(standIn, 'git')
  const worktree = join(standIn, 'worktree')
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(GIT_|XDG_CONFIG_HOME$)/.test(name),
  )
  const listing = execFileSync(
    'git',
    [`--git-dir=${gitDir}`, `--work-tree=${worktree}`, 'ls-files', '-z', '--stage'],
    {
      cwd: worktree,
      env: {
        ...Object.fromEntries(inherited),
        HOME: worktree,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_OPTIONAL_LOCKS: '0',
        GIT_TERMINAL_PROMPT: '0',
        LC_ALL: 'C',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: MAX_INDEX_BYTES,
    },
  )
  return listing.toString('latin1').split('\0').slice(0, -1)
}

/**
 * Git silently drops the entries of a sparse index that it cannot expand, because the stand-in has no trees. A split index
 * has at least as many entries as its first file states.
 */
function checkComplete(records: readonly string[], indexes: readonly IndexFile[]): void {
  const expected = indexes[0]?.bytes.readUInt32BE(8) ?? 0
  if (records.length < expected) {
    throw new IndexUnsupported(`git lists ${records.length} entries of ${expected}`)
  }
}

function parseRecords(records: readonly string[]): readonly BytePath[] {
  const names = new Set<BytePath>()
  for (const record of records) {
    const [, type, name] =
      /^(04|10|12|16)0\d{3} [0-9a-f]+ [0-3]\t(?!\.\/$)([^]+)$/.exec(record) ?? []
    // Git does not detect a truncated index and lists zeros: no mode, and `./` for an empty name.
    if (name === undefined) throw new IndexUnsupported(`git lists ${JSON.stringify(record)}`)
    if (type !== '16') names.add(joinPath(ROOT, name))
  }
  return [...names].sort((one, other) => (one < other ? -1 : 1))
}
