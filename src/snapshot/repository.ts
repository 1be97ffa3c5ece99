// Creates the store's git repository without `git init`, which would copy the user's templates, and checks it with git fsck.
import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SavestateError } from '../model/index.js'
import { writeFileAtomically } from '../system/index.js'
import { OLDEST_GIT, runGit, tryGit } from './git/git-program.js'

// fsck checks files named .gitmodules or .gitattributes as if git used them. They are the user's data; we never use them.
const UNCHECKED = [
  'gitattributesSymlink',
  'gitignoreSymlink',
  'gitmodulesBlob',
  'gitmodulesLarge',
  'gitmodulesName',
  'gitmodulesParse',
  'gitmodulesPath',
  'gitmodulesSymlink',
  'gitmodulesUpdate',
  'gitmodulesUrl',
  'mailmapSymlink',
]
// An older git exits at once if its config has these.
const UNCHECKED_SINCE_2_39 = ['gitattributesBlob', 'gitattributesLarge', 'gitattributesLineLength']
// Otherwise `git archive` and `git checkout` would obey the .gitattributes in a snapshot and change bytes.
const ATTRIBUTES =
  '* -text -eol -ident -filter -export-ignore -export-subst -working-tree-encoding\n'

export async function ensureRepository(gitDir: string): Promise<void> {
  for (const folder of ['objects/pack', 'objects/info', 'refs/savestate']) {
    // Without these folders git does not recognize the repository, even if they are empty.
    mkdirSync(join(gitDir, folder), { recursive: true, mode: 0o700 })
  }
  if (existsSync(join(gitDir, 'config')) && existsSync(join(gitDir, 'HEAD'))) return
  for (const name of REPOSITORY_FILES) await writeRepositoryFile(gitDir, name)
}

export const REPOSITORY_FILES = ['info/attributes', 'HEAD', 'config'] as const
export type RepositoryFile = (typeof REPOSITORY_FILES)[number]

export async function writeRepositoryFile(gitDir: string, name: RepositoryFile): Promise<void> {
  mkdirSync(join(gitDir, 'info'), { recursive: true, mode: 0o700 })
  const content = FIXED[name] ?? configText(await gitVersion(gitDir))
  writeFileAtomically({ path: join(gitDir, name), content, durable: true })
}

/** Whether a file of the repository has the required content. Additional settings are allowed. */
export async function isRepositoryFileSound(
  gitDir: string,
  name: RepositoryFile,
): Promise<boolean> {
  const path = join(gitDir, name)
  if (!existsSync(path)) return false
  // Git reads a symlink here as the name of a ref, and does not recognize the repository.
  if (name === 'HEAD' && lstatSync(path).isSymbolicLink()) return false
  const text = readFileSync(path, 'utf8')
  if (name !== 'config') return text === FIXED[name]
  const lines = new Set(text.split('\n'))
  const isComplete = configText(OLDEST_GIT)
    .split('\n')
    .every((line) => lines.has(line))
  if (!isComplete) return false
  const isOfNewerGit = UNCHECKED_SINCE_2_39.map(settingLine).some((line) => lines.has(line))
  if (isOfNewerGit && !knowsAll(await gitVersion(gitDir))) return false
  const { status } = await tryGit(gitDir, ['config', '--file', path, '--list'])
  return status === 0
}

/** The config is missing here: it depends on the version of git. */
const FIXED: Readonly<Partial<Record<RepositoryFile, string>>> = {
  HEAD: 'ref: refs/heads/none\n',
  'info/attributes': ATTRIBUTES,
}

/** The output lines of `git fsck --strict`; empty if there is nothing to report. */
export async function runFsck(
  gitDir: string,
  onProgress: (objects: number, of: number) => void = () => undefined,
): Promise<readonly string[]> {
  const fsck = ['fsck', '--strict', '--full', '--no-dangling', '--progress']
  // The config may have been written for an older git with fewer checks.
  const settings = UNCHECKED_SINCE_2_39.flatMap((id) => ['-c', `fsck.${id}=ignore`])
  const onComplaint = (text: string) => {
    const found = /Checking objects: .*\((\d+)\/(\d+)\)/.exec(text)
    if (found !== null) onProgress(Number(found[1]), Number(found[2]))
  }
  const first = await tryGit(gitDir, [...settings, ...fsck], { onComplaint })
  const isOlder = first.status !== 0 && first.complaints.includes('Unhandled message id')
  const { status, output, complaints } = isOlder ? await tryGit(gitDir, fsck) : first
  const lines = `${output.toString('utf8')}\n${complaints}`.split(/[\r\n]+/)
  const problems = lines.filter((line) => line !== '' && !/^notice:|^[A-Z].*: +\d+/.test(line))
  return status !== 0 && problems.length === 0 ? [`git fsck ended with ${status}`] : problems
}

function configText(version: readonly number[]): string {
  const unchecked = knowsAll(version) ? [...UNCHECKED, ...UNCHECKED_SINCE_2_39] : UNCHECKED
  return [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tfilemode = true',
    '\tbare = true',
    '\tsharedRepository = 0600',
    '\tlogAllRefUpdates = false',
    '[gc]',
    '\tauto = 0',
    '\tpruneExpire = never',
    '[fsck]',
    ...unchecked.map(settingLine),
    '',
  ].join('\n')
}

function settingLine(id: string): string {
  return `\t${id} = ignore`
}

function knowsAll(version: readonly number[]): boolean {
  return isAtLeast(version, [2, 39, 1])
}

async function gitVersion(gitDir: string): Promise<number[]> {
  const text = (await runGit(gitDir, ['--version'])).toString('utf8')
  const version = (/(\d+)\.(\d+)(?:\.(\d+))?/.exec(text) ?? [])
    .slice(1)
    .map((part) => Number(part ?? 0))
  if (isAtLeast(version, OLDEST_GIT)) return version
  throw new SavestateError('GIT_MISSING', `git is too old: ${text.trim()}`, {
    hint: `Install git ${OLDEST_GIT.join('.')} or newer.`,
  })
}

/** Throws GIT_MISSING if git is missing or too old. `folder` must exist. */
export async function refuseOldGit(folder: string): Promise<void> {
  await gitVersion(folder)
}

function isAtLeast(version: readonly number[], wanted: readonly number[]): boolean {
  for (const [i, part] of wanted.entries()) {
    const have = version[i] ?? 0
    if (have !== part) return have > part
  }
  return true
}
