// Holds the import table of the style guide, so that a room cannot reach where it must not.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Each room and the rooms below it that it may import. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  cli: ['adapters', 'daemon', 'mcp', 'imports', 'yaml', 'internal', 'index', 'base'],
  // Loaded by the CLI's import commands when they run; nothing else may depend on it.
  imports: ['yaml', 'internal', 'base'],
  mcp: ['internal', 'index', 'base'],
  daemon: ['adapters', 'internal', 'index', 'base'],
  adapters: ['yaml', 'internal', 'index', 'base'],
  yaml: ['model', 'base'],
  internal: ['index', 'sdk', 'engine', 'snapshot', 'model', 'base'],
  index: ['sdk', 'engine', 'model', 'base'],
  sdk: ['engine', 'ledger', 'snapshot', 'system', 'model', 'base'],
  engine: ['snapshot', 'ledger', 'system', 'model', 'base'],
  snapshot: ['system', 'model', 'base'],
  ledger: ['system', 'model', 'base'],
  system: ['model', 'base'],
  model: ['base'],
  base: [],
}

/** Installed with their install scripts ignored, these work: see the last test. */
const OPTIONAL_DEPENDENCIES = ['@photostructure/sqlite']

/** Bundled into dist, so that nobody has to install them. */
const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  'get-east-asian-width': ['cli'],
  zod: ['engine', 'imports', 'mcp'],
  '@modelcontextprotocol': ['mcp'],
  yaml: ['yaml', 'adapters'],
  'jsonc-parser': ['adapters'],
  'smol-toml': ['adapters'],
  // Not bundled: an optional peer of the package.
  '@langchain': ['adapters'],
}

/** Not part of the program: makers of test folders, used by the tests beside them only. */
const TEST_AIDS = ['snapshot/checkout/sample-repositories.ts', 'snapshot/checkout/scratch-git.ts']

const MAX_LINES = 300

type Import = { readonly file: string; readonly specifier: string }

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .sort()
const textOf = new Map(
  sources.map((path) => [path, readFileSync(join(ROOT, 'src', path), 'utf8')] as const),
)
/** Tests may use what they need to look at their room from outside. */
const shipped = [...textOf].filter(
  ([path]) => !path.endsWith('.test.ts') && !TEST_AIDS.includes(path),
)
const imports = shipped.flatMap(([file, text]) => importsOf(file, text))

test('the table knows every room', () => {
  expect([...new Set(sources.map(roomOf))].filter((room) => !(room in ROOMS))).toEqual([])
})

test('imports point down the table, never up, never sideways', () => {
  const faults = imports.filter(({ file, specifier }) => {
    const target = targetOf(file, specifier)
    if (target === undefined) return false
    const [from, to] = [roomOf(file), roomOf(target)]
    return from !== to && ROOMS[from]?.includes(to) !== true
  })
  expect(faults).toEqual([])
})

test('a room is entered by its index.ts', () => {
  const faults = imports.filter(({ file, specifier }) => {
    const target = targetOf(file, specifier)
    if (target === undefined || roomOf(file) === roomOf(target)) return false
    const door = `${roomOf(target)}/index.ts`
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

test('the program imports no test and no aid of one', () => {
  const faults = imports.filter(({ file, specifier }) => {
    const target = targetOf(file, specifier) ?? ''
    return target.endsWith('.test.ts') || TEST_AIDS.includes(target)
  })
  expect(faults).toEqual([])
})

test('only system/sqlite/sqlite-driver.ts loads a SQLite driver, and only when one is needed', () => {
  const names = /@photostructure\/sqlite|node:sqlite/
  expect(imports.filter(({ specifier }) => names.test(specifier))).toEqual([])
  const users = shipped.filter(([, text]) =>
    /['"](?:@photostructure\/sqlite|node:sqlite)/.test(text),
  )
  expect(users.map(([path]) => path)).toEqual(['system/sqlite/sqlite-driver.ts'])
})

test('other packages are imported only where the table says', () => {
  const faults = imports.filter(({ file, specifier }) => {
    if (specifier.startsWith('.') || specifier.startsWith('node:')) return false
    const name = specifier.split('/')[0] ?? ''
    return BUNDLED[name]?.includes(roomOf(file)) !== true
  })
  expect(faults).toEqual([])
})

test('the MCP library is imported by the file that is bundled by itself, and nowhere else', () => {
  const users = imports.filter(({ specifier }) => specifier.startsWith('@modelcontextprotocol'))
  expect([...new Set(users.map(({ file }) => file))]).toEqual(['mcp/library.ts'])
})

test('only the ledger and the locks speak SQL', () => {
  const others = ['sqlite', 'foreign-schema', 'lock', 'shared-lock'].map(
    (name) => `system/${name}.ts`,
  )
  const isAllowed = (path: string) => roomOf(path) === 'ledger' || others.includes(path)
  const sql =
    /['"`]\s*(?:SELECT\s|INSERT\s+(?:OR|INTO)\s|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(?:TABLE|INDEX)|BEGIN\b|COMMIT\b|ROLLBACK\b|PRAGMA\s)/
  const faults = shipped.filter(([path, text]) => !isAllowed(path) && sql.test(text))
  expect(faults.map(([path]) => path)).toEqual([])
})

test(`no file has more than ${MAX_LINES} lines`, () => {
  const long = [...textOf].flatMap(([path, text]) => {
    const lines = text.split('\n').length - 1
    return lines > MAX_LINES ? [`${path}: ${lines}`] : []
  })
  expect(long).toEqual([])
})

test('only the faces print, exit and look at the command line', () => {
  const faults = shipped.filter(
    ([path, text]) =>
      roomOf(path) !== 'cli' &&
      // Processes of their own.
      path !== 'sdk/maintenance/prune-process.ts' &&
      path !== 'daemon/server/serve.ts' &&
      /\bconsole\.|\bprocess\.(?:exit|exitCode|argv|cwd|stdout|stderr|stdin)\b/.test(text),
  )
  expect(faults.map(([path]) => path)).toEqual([])
})

test('operations get the time and chance from their context', () => {
  const faults = shipped.filter(
    ([path, text]) =>
      ['engine', 'ledger', 'model'].includes(roomOf(path)) &&
      // A nonce is random whatever the context says.
      path !== 'ledger/encryption/sealing-key.ts' &&
      /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomBytes\(|\bprocess\.env\b/.test(text),
  )
  expect(faults.map(([path]) => path)).toEqual([])
})

test('there is no any, no enum, no suppressed type error, and no skipped test', () => {
  const types =
    /:\s*any\b|\bas any\b|<any>|^\s*(?:export )?(?:const )?enum |@ts-(?:ignore|nocheck)/m
  const skipped = /\b(?:test|describe|it)\.(?:skip|todo|only|skipIf|runIf)\b/
  const all = [...textOf].map(([path, text]) => [`src/${path}`, text] as const)
  const tests = readdirSync(join(ROOT, 'test'))
    .filter((name) => name.endsWith('.ts') && name !== 'architecture.test.ts')
    .map((name) => [`test/${name}`, readFileSync(join(ROOT, 'test', name), 'utf8')] as const)
  const faults = [...all, ...tests].filter(([path, text]) => {
    // One place needs it, and says why.
    const checked = path === 'src/system/thread.ts' ? text.replaceAll(/\w+: any\b/g, '') : text
    return types.test(checked) || skipped.test(text)
  })
  expect(faults.map(([path]) => path)).toEqual([])
})

test('nothing is needed at run time that an install script would have to build', () => {
  const { dependencies = {}, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as {
    readonly dependencies?: Readonly<Record<string, string>>
    readonly optionalDependencies: Readonly<Record<string, string>>
  }
  expect(dependencies).toEqual({})
  expect(Object.keys(optionalDependencies)).toEqual(OPTIONAL_DEPENDENCIES)
  // node_modules was filled without install scripts, so what works here needs none.
  const settings = readFileSync(join(ROOT, '.npmrc'), 'utf8').split('\n')
  expect(settings).toContain('ignore-scripts=true')
  const script = `
    import { DatabaseSync } from '@photostructure/sqlite'
    const database = new DatabaseSync(':memory:')
    process.stdout.write(String(database.prepare('SELECT 6 * 7 AS answer').get().answer))`
  const answer = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: ROOT,
  })
  expect(answer.toString()).toBe('42')
})

function roomOf(path: string): string {
  const slash = path.indexOf('/')
  return slash === -1 ? path.replace(/\.ts$/, '') : path.slice(0, slash)
}

function importsOf(file: string, text: string): Import[] {
  const code = text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, '')
  const statements =
    /(?:^|\n)\s*(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)|\bnew URL\(\s*['"](\.[^'"]+)['"]/g
  return [...code.matchAll(statements)].map((match) => ({
    file,
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
  }))
}

/** The file in src that a relative import means. */
function targetOf(file: string, specifier: string): string | undefined {
  // The package tells its own version.
  if (!specifier.startsWith('.') || specifier === '../../package.json') return undefined
  return posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts')
}
