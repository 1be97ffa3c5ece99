// Finds a Chromium for the browser tests and the benchmark. On Linux x64 npm installs one: @sparticuz/chromium contains the
// browser, its libraries and a font, compressed with brotli. Unpacking takes seconds, so it happens once per installation.
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync, mkdirSync, statSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'
import { hasCode } from '../../../src/base/index.js'

export type Chromium = {
  readonly path: string
  /** For the process of the browser only: other programs must not load its libraries. */
  readonly environment: Readonly<Record<string, string>>
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']

const NOT_FOUND =
  'No Chromium found. Run `npm ci` on Linux x64, or install Chrome or Chromium, or set SAVESTATE_BROWSER to the path of one.'

type Machine = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: string
  readonly arch: string
}

/** SAVESTATE_BROWSER, or the browser from npm, or one on the PATH. Throws if there is none. */
export async function findChromium({ env, platform, arch }: Machine = process): Promise<Chromium> {
  const named = env['SAVESTATE_BROWSER']
  if (named !== undefined && named !== '') return { path: named, environment: {} }
  const unpacked = platform === 'linux' && arch === 'x64' ? await unpack() : undefined
  if (unpacked !== undefined) return unpacked
  const path = (env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile() === true)
  if (path === undefined) throw new Error(NOT_FOUND)
  return { path, environment: {} }
}

/** Undefined if the package is not installed. */
async function unpack(): Promise<Chromium | undefined> {
  const folder = packageFolder()
  if (folder === undefined) return undefined
  const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  // node_modules/@sparticuz/chromium: the cache is in the same node_modules, so `npm ci` removes it too.
  const cache = join(dirname(dirname(folder)), '.cache', 'savestate-chromium')
  const target = join(cache, version)
  if (!existsSync(target)) await unpackInto({ from: join(folder, 'bin'), cache, target })
  return {
    path: join(target, 'chromium'),
    environment: {
      LD_LIBRARY_PATH: join(target, 'lib'),
      FONTCONFIG_FILE: join(target, 'fontconfig.xml'),
    },
  }
}

function packageFolder(): string | undefined {
  const require = createRequire(import.meta.url)
  try {
    // The main file is build/cjs/index.cjs; package.json is not exported.
    return dirname(dirname(dirname(require.resolve('@sparticuz/chromium'))))
  } catch (error) {
    if (hasCode(error, 'MODULE_NOT_FOUND')) return undefined
    throw error
  }
}

type Unpacking = { readonly from: string; readonly cache: string; readonly target: string }

/** The rename is atomic: of several test processes that unpack at the same time, the first one wins. */
async function unpackInto({ from, cache, target }: Unpacking): Promise<void> {
  mkdirSync(cache, { recursive: true })
  const made = await mkdtemp(join(cache, 'new-'))
  try {
    await Promise.all([
      decompress(join(from, 'chromium.br'), join(made, 'chromium')),
      extract(join(from, 'al2023.tar.br'), made),
      extract(join(from, 'fonts.tar.br'), made),
    ])
    await chmod(join(made, 'chromium'), 0o755)
    await writeFile(join(made, 'fontconfig.xml'), fontconfig(join(target, 'fonts')))
    await rename(made, target)
  } catch (error) {
    await rm(made, { recursive: true, force: true })
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
  }
}

function decompress(from: string, to: string): Promise<void> {
  return pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to))
}

async function extract(from: string, folder: string): Promise<void> {
  const archive = join(folder, basename(from, '.br'))
  await decompress(from, archive)
  await promisify(execFile)('tar', ['-xf', archive, '--no-same-owner', '-C', folder])
  await rm(archive)
}

/** The fonts of the system if it has any, and ours for a machine without. */
function fontconfig(fonts: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${fonts}</dir>
</fontconfig>
`
}
