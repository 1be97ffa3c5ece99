/**
 * The peers: the git commands other tools run for each checkpoint, started as those tools start them.
 * Where a tool's own settings make git slower than need be, the faster form is used here, so that the
 * comparison is against what the design can do and not against an oversight in it.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type GitCall, git } from './git.js'

export interface Peer {
  readonly name: string
  readonly gitDir: string
  /** Makes one checkpoint and returns its tree. */
  save(): Promise<string>
}

export interface HermesPeer extends Peer {
  /** The folder and environment of its commands; a restore needs them too. */
  readonly call: GitCall
}

export interface Place {
  /** The folder under checkpoints. */
  readonly tree: string
  /** An existing folder for the peer's own files. */
  readonly dir: string
}

/** (a) Hermes: one bare store for all projects, an index file for each, plumbing commands. */
export async function hermesPeer({ tree, dir }: Place): Promise<HermesPeer> {
  const gitDir = await initStore(join(dir, 'hermes.git'))
  mkdirSync(join(gitDir, 'indexes'))
  return hermesLane({ tree, gitDir, lane: 'hermes', rereads: true })
}

/**
 * (a) without its `read-tree`, which discards git's cached stat of every file. In the same
 * store, with its own index that starts as warm as the other.
 */
export function hermesWithoutReadTree(hermes: HermesPeer): HermesPeer {
  const { gitDir, call } = hermes
  const lane = 'hermes-no-read-tree'
  copyFileSync(join(gitDir, 'indexes', 'hermes'), join(gitDir, 'indexes', lane))
  return hermesLane({ tree: call.cwd, gitDir, lane, rereads: false })
}

interface Lane {
  readonly tree: string
  readonly gitDir: string
  readonly lane: string
  readonly rereads: boolean
}

function hermesLane({ tree, gitDir, lane, rereads }: Lane): HermesPeer {
  const call = hermesCall({ tree, gitDir, lane })
  let last: { tree: string; commit: string } | undefined
  return {
    name: lane,
    gitDir,
    call,
    async save() {
      if (last !== undefined && rereads) await git(['read-tree', last.tree], call)
      await git(['add', '-A'], call)
      const saved = await git(['write-tree'], call)
      const parent = last === undefined ? [] : ['-p', last.commit]
      const commit = await git(['commit-tree', saved, ...parent, '-m', 'x'], call)
      await git(['update-ref', `refs/hermes/${lane}`, commit], call)
      last = { tree: saved, commit }
      return saved
    },
  }
}

export function hermesCall({ tree, gitDir, lane }: Omit<Lane, 'rereads'>): GitCall {
  const index = join(gitDir, 'indexes', lane)
  return {
    cwd: tree,
    environment: { GIT_DIR: gitDir, GIT_WORK_TREE: tree, GIT_INDEX_FILE: index },
  }
}

/** (b) Gemini and Cline: a shadow repository whose work tree is the folder, everyday commands. */
export async function shadowPeer({ tree, dir }: Place): Promise<Peer> {
  const gitDir = await initStore(join(dir, 'shadow.git'))
  const call = { cwd: tree, environment: { GIT_DIR: gitDir } }
  await git(['config', 'core.bare', 'false'], call)
  await git(['config', 'core.worktree', tree], call)
  return {
    name: 'shadow',
    gitDir,
    async save() {
      await git(['add', '.'], call)
      return git(['commit', '-m', 'x', '--no-verify', '--allow-empty'], call)
    },
  }
}

/** (c) opencode: list the changes (two concurrent commands, as it does), add them, write a tree. */
export async function opencodePeer({ tree, dir }: Place): Promise<Peer> {
  const gitDir = await initStore(join(dir, 'opencode.git'))
  const call = { cwd: tree, environment: { GIT_DIR: gitDir, GIT_WORK_TREE: tree } }
  return {
    name: 'opencode',
    gitDir,
    async save() {
      const [changed, added] = await Promise.all([
        git(['diff-files', '--name-only', '-z'], call),
        git(['ls-files', '-o', '--exclude-standard', '-z'], call),
      ])
      const input = changed + added
      // `add --pathspec-from-file` compares every path with every pathspec: minutes for a first save.
      if (input !== '') {
        await git(['update-index', '-z', '--add', '--remove', '--stdin'], { ...call, input })
      }
      return git(['write-tree'], call)
    },
  }
}

/** The paths git would capture in a folder, by the same rules as the peers. */
export async function capturedPaths({ tree, dir }: Place): Promise<readonly string[]> {
  const gitDir = await initStore(join(dir, 'listing.git'))
  const environment = { GIT_DIR: gitDir, GIT_WORK_TREE: tree }
  const listed = await git(['ls-files', '-o', '--exclude-standard', '-z'], {
    cwd: tree,
    environment,
  })
  return listed.split('\0').filter((path) => path !== '')
}

async function initStore(gitDir: string): Promise<string> {
  mkdirSync(gitDir)
  const call = { cwd: gitDir, environment: { GIT_DIR: gitDir } }
  await git(['init', '--quiet', '--bare', '--template='], call)
  // Otherwise gc would run during some saves and not during others.
  await git(['config', 'gc.auto', '0'], call)
  await git(['config', 'maintenance.auto', 'false'], call)
  await git(['config', 'core.fsmonitor', 'false'], call)
  mkdirSync(join(gitDir, 'info'), { recursive: true })
  writeFileSync(join(gitDir, 'info', 'exclude'), EXCLUDES.trim().replaceAll(/\s+/g, '\n'))
  return gitDir
}

/** Excluded by Hermes and by Savestate: on a real folder all must capture the same files. */
const EXCLUDES = `
node_modules/ dist/ build/ target/ out/ .next/ .nuxt/ __pycache__/ *.pyc *.pyo .cache/ .pytest_cache/
.mypy_cache/ .ruff_cache/ coverage/ .coverage .venv/ venv/ env/ .git/ .hg/ .svn/ .worktrees/ *.so
*.dylib *.dll *.o *.a *.jar *.class *.exe *.obj *.mp4 *.mov *.mkv *.webm *.zip *.tar *.tar.gz *.tgz
*.7z *.rar *.iso .env .env.* .DS_Store Thumbs.db *.log
`
