// A repository that exists while commits are built. See the README for why it copies objects of the user's repository.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type ObjectId, parseObjectId } from '../../model/index.js'
import { runGit, tryGit } from '../git/git-program.js'
import type { UserRepository } from './user-repository.js'

export type TemporarySettings = {
  /** The objects folder of the store. */
  readonly objects: string
  readonly user: UserRepository | undefined
}

export class TemporaryRepository {
  readonly folder: string
  readonly gitDir: string
  readonly worktree: string

  constructor({ objects, user }: TemporarySettings) {
    this.folder = mkdtempSync(join(tmpdir(), 'savestate-commits-'))
    this.gitDir = join(this.folder, 'git')
    this.worktree = join(this.folder, 'worktree')
    for (const name of ['git/refs/heads', 'git/objects/info', 'git/objects/pack', 'git/info'])
      mkdirSync(join(this.folder, name), { recursive: true })
    mkdirSync(this.worktree)
    const files = {
      HEAD: `ref: ${BRANCH}\n`,
      config: configText(this.worktree, user),
      'objects/info/alternates': `${quoteAlternate(objects)}\n`,
      'info/exclude': user?.exclude ?? '',
      'info/attributes': user?.attributes ?? '',
    }
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(this.gitDir, name), content)
  }

  run(args: readonly string[], input?: Buffer | string): Promise<Buffer> {
    return runGit(this.gitDir, args, input === undefined ? {} : { input: Readable.from([input]) })
  }

  /** Output also of a git that exits with 1, which some commands do to say "no". */
  async ask(args: readonly string[], input: Buffer | string): Promise<Buffer> {
    return (await tryGit(this.gitDir, args, { input: Readable.from([input]) })).output
  }

  async id(args: readonly string[], input?: Buffer | string): Promise<ObjectId> {
    return parseObjectId((await this.run(args, input)).toString('latin1').trim())
  }

  /** Copies objects out of another objects folder. */
  async copy(objects: string, ids: readonly ObjectId[]): Promise<void> {
    if (ids.length === 0) return
    const input = Readable.from([ids.map((id) => `${id}\n`).join('')])
    const pack = await runGit(this.gitDir, ['pack-objects', '--stdout', '-q'], { objects, input })
    await this.run(['index-pack', '--stdin'], pack)
  }

  /** Git then does not need the parents of this commit, which are not copied. */
  shallowAt(commit: ObjectId): void {
    writeFileSync(join(this.gitDir, 'shallow'), `${commit}\n`)
  }

  /** Names the commit that a bundle is made of. */
  async setRef(name: string, commit: ObjectId): Promise<void> {
    await this.run(['update-ref', name, commit])
  }

  /** A bundle of refs, without what `base` has. */
  async bundle(refs: readonly string[], base: ObjectId | undefined): Promise<Buffer> {
    const without = base === undefined ? [] : [`^${base}`]
    return this.run(['bundle', 'create', '-q', '-', ...refs, ...without])
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The name of the branch in a bundle. */
export const BRANCH = 'refs/heads/savestate'

export const NOTES = 'refs/notes/savestate'

function configText(worktree: string, user: UserRepository | undefined): string {
  const names = ['autocrlf', 'eol', 'ignorecase']
  const copied = names.flatMap((name) => {
    const value = user?.settings.get(`core.${name}`)
    return value === undefined ? [] : [`\t${name} = ${JSON.stringify(value)}`]
  })
  return [
    '[core]',
    '\trepositoryformatversion = 0',
    '\tbare = false',
    '\tfilemode = true',
    '\tsymlinks = true',
    '\tsafecrlf = false',
    `\tworktree = ${JSON.stringify(worktree)}`,
    ...copied,
    '[gc]',
    '\tauto = 0',
    '',
  ].join('\n')
}

/** A path in an alternates file may be quoted as in C. */
function quoteAlternate(path: string): string {
  return /["\\\n]|^#/.test(path)
    ? `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
    : path
}
