// A project in a repository of the user, prompts of an agent in it, and the commits that real git takes from them.
import { deepStrictEqual as expectEqual } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommitsOptions, Project, Store } from '../../../src/index.js'
import { type FileSpec, type Scratch } from '../scratch.js'

const AUTHOR = 'Ada <ada@example.com>'

/** A repository whose worktree, or a folder in it, is the project. */
export class CommitStory {
  constructor(
    readonly s: Scratch,
    readonly project: Project,
    readonly store: Store,
    readonly root: string,
    readonly clock: { nowMs: number },
  ) {}

  git(...args: readonly string[]): string {
    return this.s.git(args, { cwd: this.root })
  }

  /** Commits everything, a minute after what was before. */
  commit(message: string): string {
    this.clock.nowMs += 60_000
    this.git('add', '-A')
    const date = `@${Math.floor(this.clock.nowMs / 1000)} +0000`
    const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
    this.s.git(['commit', '-q', '-m', message], { cwd: this.root, env })
    return this.git('rev-parse', 'HEAD')
  }

  /** A prompt and one call that writes these files. */
  async prompt(text: string, ...writes: readonly Parameters<Scratch['write']>[0][]) {
    this.clock.nowMs += 60_000
    const session = await this.store.session('claude-1', { project: this.project, agent: 'claude' })
    await session.newTurn()
    await session.save({
      files: true,
      reason: `You: ${text}`,
      metadata: { agentSession: 'a', at: 'turn-start', prompt: text },
    })
    for (const files of writes) this.s.write(files)
    const saved = await session.save({
      files: true,
      reason: `Edit ${Object.keys(writes[0] ?? {})[0] ?? ''}`,
      metadata: { agentSession: 'a', at: 'after-tool', prompt: text, calls: ['Edit'] },
    })
    await session.close()
    return saved
  }

  /** The folder as git sees it: its tree, made in a copy of the repository. */
  treeNow(): string {
    const copy = join(this.s.folder, `copy-${Math.trunc(performance.now() * 1000)}`)
    execFileSync('cp', ['-RPp', this.root, copy])
    this.s.git(['add', '-A'], { cwd: copy })
    return this.s.git(['write-tree'], { cwd: copy })
  }

  clone(at = 'HEAD'): string {
    const folder = join(this.s.folder, `clone-${Math.trunc(performance.now() * 1000)}`)
    this.s.git(['clone', '-q', this.root, folder], { cwd: this.s.folder })
    this.s.git(['checkout', '-q', at], { cwd: folder })
    return folder
  }

  /** Applies the mbox, fetches the bundle, and expects the same tree from both. Returns the log, oldest first. */
  async take(
    range: string,
    options: CommitsOptions = {},
  ): Promise<{ log: string[]; tree: string; files: string[] }> {
    const given = { author: AUTHOR, ...options }
    const mbox = await this.project.commits(range, given)
    const bundle = await this.project.commits(range, { ...given, format: 'bundle' })
    const [first, second] = [this.clone(), this.clone()]
    for (const folder of [first, second])
      for (const [key, value] of [['core.autocrlf', this.config('core.autocrlf')]] as const)
        if (value !== '') this.s.git(['config', key, value], { cwd: folder })
    this.s.git(['reset', '-q', '--hard'], { cwd: first })
    this.s.git(['am', '-q'], { cwd: first, input: Buffer.from(mbox.content) })
    const file = join(this.s.folder, 'work.bundle')
    writeFileSync(file, bundle.content)
    this.s.git(['bundle', 'verify', '-q', file], { cwd: second })
    this.s.git(['fetch', '-q', file, 'savestate:work'], { cwd: second })
    this.s.git(['fsck', '--strict'], { cwd: second })
    const tree = this.s.git(['rev-parse', 'work^{tree}'], { cwd: second })
    expectEqual(this.s.git(['rev-parse', 'HEAD^{tree}'], { cwd: first }), tree)
    const log = (folder: string, tip: string) =>
      this.s
        .git(['log', '--reverse', '--format=%B%x00', `${bundle.base ?? ''}..${tip}`], {
          cwd: folder,
        })
        .split('\0')
        .map((message) => message.trim())
        .filter((message) => message !== '')
    expectEqual(log(first, 'HEAD'), log(second, 'work'))
    expectEqual(bundle.commits, mbox.commits)
    const names = this.s.git(['ls-tree', '-r', '--name-only', tree], { cwd: second })
    return { log: log(second, 'work'), tree, files: names.split('\n') }
  }

  config(key: string): string {
    try {
      return this.git('config', '--get', key)
    } catch {
      return ''
    }
  }
}

type Given = {
  readonly files?: Readonly<Record<string, FileSpec>>
  /** The folder of the project in the repository. */
  readonly folder?: string
  readonly config?: readonly (readonly [key: string, value: string])[]
}

export async function commitStory(
  s: Scratch,
  { files = { 'a.txt': 'a\n' }, folder = '', config = [] }: Given,
): Promise<CommitStory> {
  const root = s.project
  s.git(['init', '-q', '-b', 'main'], { cwd: root })
  for (const [key, value] of config) s.git(['config', key, value], { cwd: root })
  s.write(files)
  const clock = { nowMs: Date.UTC(2026, 0, 2) }
  const store = await s.open({ clock: { nowMs: () => clock.nowMs, random: randomBytes } })
  mkdirSync(join(root, folder), { recursive: true })
  const project = await store.project(join(root, folder))
  const story = new CommitStory(s, project, store, root, clock)
  story.commit('first')
  clock.nowMs += 60_000
  return story
}
