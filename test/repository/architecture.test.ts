// Enforces the layers and the layout of the repository: imports go down, and `ls` shows the architecture.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Each layer and the layers below it that it may import. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  cli: ['agents', 'daemon', 'mcp', 'ui', 'imports', 'yaml', 'internal', 'index', 'base'],
  // The CLI's import commands load it when they run; nothing else may depend on it.
  imports: ['yaml', 'internal', 'base'],
  mcp: ['internal', 'index', 'base'],
  ui: ['agents', 'daemon', 'internal', 'index', 'base'],
  daemon: ['agents', 'internal', 'index', 'base'],
  agents: ['yaml', 'internal', 'index', 'base'],
  langgraph: ['index', 'base'],
  yaml: ['model', 'base'],
  internal: ['index', 'sdk', 'engine', 'snapshot', 'model', 'base'],
  index: ['sdk', 'engine', 'model', 'base'],
  sdk: ['engine', 'ledger', 'snapshot', 'remote', 'system', 'model', 'base'],
  engine: ['snapshot', 'ledger', 'remote', 'system', 'model', 'base'],
  remote: ['system', 'model', 'base'],
  snapshot: ['system', 'model', 'base'],
  ledger: ['system', 'model', 'base'],
  system: ['model', 'base'],
  model: ['base'],
  base: [],
}

/** Bundled into dist, so that users need not install them. */
const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  'get-east-asian-width': ['cli'],
  zod: ['engine', 'imports', 'mcp', 'ui'],
  '@modelcontextprotocol': ['mcp'],
  yaml: ['yaml', 'agents'],
  'jsonc-parser': ['agents'],
  diff: ['snapshot'],
  'smol-toml': ['agents'],
  // Not bundled: optional peers of the package.
  '@langchain': ['langgraph'],
  pg: ['remote'],
}

const MAX_LINES = 300

/** Per folder. A folder with more than READABLE files has a README that says where to start reading. */
const MAX_FILES = 20
const READABLE = 5
/** One file per command. */
const LARGE_FOLDERS = ['src/cli/commands', 'test/cli/commands']

/** Folders of test/ that no folder of src/ corresponds to. */
const CROSS_CUTTING = ['attacks', 'crash', 'faults', 'fixtures', 'repository', 'support']

type Import = { readonly file: string; readonly specifier: string }

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .sort()
const textOf = new Map(
  sources.map((path) => [path, readFileSync(join(ROOT, 'src', path), 'utf8')] as const),
)
const imports = [...textOf].flatMap(([file, text]) => importsOf(file, text))

test('the table knows every layer', () => {
  expect([...new Set(sources.map(layerOf))].filter((layer) => !(layer in LAYERS))).toEqual([])
})

test('imports point down the table, never up, never sideways', () => {
  const faults = imports.filter(({ file, specifier }) => {
    const target = targetOf(file, specifier)
    if (target === undefined) return false
    const [from, to] = [layerOf(file), layerOf(target)]
    return from !== to && LAYERS[from]?.includes(to) !== true
  })
  expect(faults).toEqual([])
})

test('other layers import a layer by its index.ts', () => {
  const faults = imports.filter(({ file, specifier }) => {
    const target = targetOf(file, specifier)
    if (target === undefined || layerOf(file) === layerOf(target)) return false
    const door = `${layerOf(target)}/index.ts`
    return target.includes('/') && target !== door
  })
  expect(faults).toEqual([])
})

test('savestate/langgraph uses the public API only: it shares one copy of the SDK with the user', () => {
  const faults = imports.filter(
    ({ file, specifier }) =>
      file.includes('langgraph') && targetOf(file, specifier) === 'internal.ts',
  )
  expect(faults).toEqual([])
})

test('every relative import leads to a file', () => {
  const faults = imports.filter(({ file, specifier }) => {
    const target = targetOf(file, specifier)
    return target !== undefined && !textOf.has(target)
  })
  expect(faults).toEqual([])
})

test('src holds no tests and imports nothing from test/', () => {
  expect(sources.filter((path) => path.endsWith('.test.ts'))).toEqual([])
  expect(imports.filter(({ specifier }) => /(?:^|\/)test\//.test(specifier))).toEqual([])
})

test('a layer exports the contents of its folders through the index of each folder', () => {
  const faults = imports.filter(({ file, specifier }) => {
    if (!/^[a-z]+\/index\.ts$/.test(file) || specifier.split('/').length <= 2) return false
    const folder = posix.dirname(targetOf(file, specifier) ?? '')
    return !specifier.endsWith('/index.js') && textOf.has(`${folder}/index.ts`)
  })
  // Loaded on demand: an index would load the rest of the folder too.
  const lazy = [
    './install/install.js',
    './conversation/conversation.js',
    './conversation/read-items.js',
    './conversation/read-subagent.js',
  ]
  expect(faults.filter(({ specifier }) => !lazy.includes(specifier))).toEqual([])
})

test(`no folder has more than ${MAX_FILES} files, and a large one says where to start`, () => {
  const folders = ['src', 'test', 'bench', 'e2e', 'torture', 'scripts'].flatMap((top) => [
    top,
    ...readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  ])
  const faults = folders.flatMap((folder) => {
    const names = readdirSync(join(ROOT, folder))
    const files = names.filter((name) => /\.(?:ts|mjs|cjs)$/.test(name)).length
    const isLarge = files > MAX_FILES && !LARGE_FOLDERS.includes(folder)
    const lacksReadme =
      files > READABLE && folder.startsWith('src/') && !names.includes('README.md')
    return [...(isLarge ? [`${folder}: ${files} files`] : []), ...(lacksReadme ? [folder] : [])]
  })
  expect(faults).toEqual([])
})

test('test/ mirrors src/', () => {
  const folders = readdirSync(join(ROOT, 'test'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(join(ROOT, 'test'), join(entry.parentPath, entry.name)))
    .filter((folder) => !CROSS_CUTTING.includes(folder.split('/')[0] ?? ''))
    // Tests the browser side, which is in ui/.
    .filter((folder) => folder !== 'ui/page')
  expect(folders.filter((folder) => !existsSync(join(ROOT, 'src', folder)))).toEqual([])
})

test('only system/sqlite/sqlite-driver.ts loads a SQLite driver, and only when one is needed', () => {
  const names = /@photostructure\/sqlite|node:sqlite/
  expect(imports.filter(({ specifier }) => names.test(specifier))).toEqual([])
  const users = [...textOf].filter(([, text]) =>
    /['"`](?:@photostructure\W|node:sqlite)/.test(text),
  )
  expect(users.map(([path]) => path)).toEqual(['system/sqlite/sqlite-driver.ts'])
})

test('other packages are imported only where the table says', () => {
  const faults = imports.filter(({ file, specifier }) => {
    if (specifier.startsWith('.') || specifier.startsWith('node:')) return false
    const name = specifier.split('/')[0] ?? ''
    return BUNDLED[name]?.includes(layerOf(file)) !== true
  })
  expect(faults).toEqual([])
})

test('the MCP library is imported by the file that is bundled by itself, and nowhere else', () => {
  const users = imports.filter(({ specifier }) => specifier.startsWith('@modelcontextprotocol'))
  expect([...new Set(users.map(({ file }) => file))]).toEqual(['mcp/library.ts'])
})

test('only the ledger, the PostgreSQL remote and the locks speak SQL', () => {
  const isAllowed = (path: string) =>
    /^(?:ledger|remote\/postgres|system\/(?:sqlite|locks))\//.test(path)
  const sql =
    /['"`]\s*(?:SELECT\s|INSERT\s+(?:OR|INTO)\s|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(?:TABLE|INDEX)|BEGIN\b|COMMIT\b|ROLLBACK\b|PRAGMA\s)/
  const faults = [...textOf].filter(([path, text]) => !isAllowed(path) && sql.test(text))
  expect(faults.map(([path]) => path)).toEqual([])
})

test(`no file has more than ${MAX_LINES} lines`, () => {
  const long = [...textOf].flatMap(([path, text]) => {
    const lines = text.split('\n').length - 1
    return lines > MAX_LINES ? [`${path}: ${lines}`] : []
  })
  expect(long).toEqual([])
})

test('only the command line prints, exits and reads its arguments', () => {
  const faults = [...textOf].filter(
    ([path, text]) =>
      layerOf(path) !== 'cli' &&
      // Processes of their own.
      !/^sdk\/maintenance\/(?:prune|push)-process\.ts$/.test(path) &&
      path !== 'daemon/server/serve.ts' &&
      /\bconsole\.|\bprocess\.(?:exit|exitCode|argv|cwd|stdout|stderr|stdin)\b/.test(text),
  )
  expect(faults.map(([path]) => path)).toEqual([])
})

test('operations get the time and chance from their context', () => {
  const faults = [...textOf].filter(
    ([path, text]) =>
      ['engine', 'ledger', 'model'].includes(layerOf(path)) &&
      // A nonce is random whatever the context says.
      path !== 'ledger/encryption/sealing-key.ts' &&
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomBytes\(|\bprocess\.env\b/.test(text),
  )
  expect(faults.map(([path]) => path)).toEqual([])
})

test('there is no any, no enum, no suppressed type error, and no skipped test', () => {
  const types =
    /:\s*any\b(?! \w)|\bas any\b(?! \w)|<any>|^\s*(?:export )?(?:const )?enum |@ts-(?:ignore|nocheck)/m
  const skipped = /\b(?:test|describe|it)\.(?:skip|todo|only|skipIf|runIf)\b/
  const all = [...textOf].map(([path, text]) => [`src/${path}`, text] as const)
  const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('architecture.test.ts'))
    .map((name) => [`test/${name}`, readFileSync(join(ROOT, 'test', name), 'utf8')] as const)
  const faults = [...all, ...tests].filter(([path, text]) => {
    // One place needs it, and says why.
    const checked = path === 'src/system/thread.ts' ? text.replaceAll(/\w+: any\b/g, '') : text
    return types.test(checked) || skipped.test(text)
  })
  expect(faults.map(([path]) => path)).toEqual([])
})

test('the package has no dependency, so an install runs no script and prints no warning', () => {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as { readonly dependencies?: unknown; readonly optionalDependencies?: unknown }
  expect([dependencies, optionalDependencies]).toEqual([undefined, undefined])
})

function layerOf(path: string): string {
  const slash = path.indexOf('/')
  return slash === -1 ? path.replace(/\.ts$/, '') : path.slice(0, slash)
}

function importsOf(file: string, text: string): Import[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
  const statements =
    /(?:^|\n)\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g
  return [...code.matchAll(statements)].map((match) => ({
    file,
    specifier: match[1] ?? match[2] ?? '',
  }))
}

/** The file in src that a relative import means. */
function targetOf(file: string, specifier: string): string | undefined {
  // The package tells its own version.
  if (!specifier.startsWith('.') || specifier === '../../package.json') return undefined
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts')
}
