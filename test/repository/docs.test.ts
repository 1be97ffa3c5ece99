// The documents say what the code does: what can be checked is checked here.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { DEFAULT_EXCLUDES, SECRET_NAMES } from '../../src/model/index.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = filesIn('src', '.ts')
const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...filesIn('docs', '.md'),
]

test('docs/reference/errors.md is what scripts/docs.mjs makes of the error codes', () => {
  const made = execFileSync(process.execPath, [join(ROOT, 'scripts/docs.mjs'), '--print'], {
    encoding: 'utf8',
  })
  expect(read('docs/reference/errors.md')).toBe(made)
})

test('docs/reference/sdk.md is what scripts/docs.mjs makes of the declarations', () => {
  const made = execFileSync(process.execPath, [join(ROOT, 'scripts/docs.mjs'), '--print-sdk'], {
    encoding: 'utf8',
  })
  expect(read('docs/reference/sdk.md')).toBe(made)
})

test('every relative link leads to a file, and to a heading in it', () => {
  const broken = PAGES.flatMap((page) =>
    linksOf(page).filter((link) => !leadsSomewhere(page, link)),
  )
  expect(broken).toEqual([])
})

test('every page and heading that the code cites is there', () => {
  const cited = SOURCES.flatMap((source) =>
    [...read(source).matchAll(/\bdocs\/[\w/.-]*\w(?:#[\w-]+)?/g)].map(([link]) => link),
  )
  expect(cited).toContain('docs/internals/design.md#snapshot')
  const broken = new Set(cited.filter((link) => !leadsSomewhere('README.md', citedPage(link))))
  expect([...broken]).toEqual([])
})

test('every failpoint has its row in docs/internals/design.md or shared.md', () => {
  const names = SOURCES.flatMap((source) =>
    [...read(source).matchAll(/\bfailpoint\('([^']+)'\)/g)].map(([, name = '']) => name),
  )
  expect(names.length).toBeGreaterThan(20)
  const rows = ['docs/internals/design.md', 'docs/internals/shared.md']
    .flatMap((page) => read(page).split('\n'))
    .filter((line) => line.startsWith('|'))
    .join('\n')
  expect(names.filter((name) => !rows.includes(`\`${name}\``))).toEqual([])
})

test('every failpoint that docs/internals/design.md names is in the code', () => {
  const code = SOURCES.map(read).join('\n')
  const named = [...read('docs/internals/design.md').matchAll(/`([a-z]+:[a-z-]+)`/g)].map(
    ([, name = '']) => name,
  )
  expect(named.filter((name) => !code.includes(`failpoint('${name}')`))).toEqual([])
})

test('every rule that the code cites has its row in docs/internals/design.md', () => {
  const design = read('docs/internals/design.md')
  const cited = new Set(
    SOURCES.flatMap((source) => [...read(source).matchAll(/\bI(?:1[0-2]|[1-9])\b/g)].map(String)),
  )
  expect(cited.size).toBeGreaterThan(5)
  expect(
    [...cited].filter((rule) => !new RegExp(`^\\| \\*\\*${rule}\\*\\* *\\|`, 'm').test(design)),
  ).toEqual([])
})

test('every file that docs/internals/design.md names for a rule or a threat is there', () => {
  const named = [
    ...read('docs/internals/design.md').matchAll(/`((?:[a-z-]+\/)*[a-z-]+(?:\.test)?\.ts)`/g),
  ]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'index.ts')
  const files = [...SOURCES, ...filesIn('test', '.ts')]
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
})

test('every command that the README and the guides show exists, and the README shows the daily ones', () => {
  const commands = new Set(
    [...read('docs/reference/cli.md').matchAll(/^\| \[`([a-z-]+)`\]/gm)].map(
      ([, name = '']) => name,
    ),
  )
  const shownIn = (page: string) =>
    [...read(page).matchAll(/(?:`|^|\$ )savestate ([a-z][a-z-]+)/gm)].map(([, name = '']) => name)
  const pages = ['README.md', ...filesIn('docs/guide', '.md')]
  const shown = new Set(pages.flatMap(shownIn))
  expect([...shown].filter((name) => !commands.has(name))).toEqual([])
  const daily = ['save', 'list', 'diff', 'rewind', 'undo', 'cat', 'name', 'status']
  expect(daily.filter((name) => !shownIn('README.md').includes(name))).toEqual([])
})

test('docs/reference/limits.md lists the names of secrets', () => {
  const list =
    read('docs/reference/limits.md')
      .split('\n### Secrets')[1]
      ?.split('```text')[1]
      ?.split('```')[0] ?? ''
  expect(list.trim().split(/\s+/)).toEqual([...SECRET_NAMES])
})

test('docs/reference/limits.md lists the default excludes', () => {
  const section =
    read('docs/reference/limits.md').split('### Default excludes')[1]?.split('\n### ')[0] ?? ''
  expect([...section.matchAll(/`([^`]+)`/g)].map(([, pattern = '']) => pattern)).toEqual([
    ...DEFAULT_EXCLUDES,
  ])
})

test('the changelog has the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect(read('CHANGELOG.md')).toContain(`\n## ${version}\n`)
})

test('every decision is in the list of decisions', () => {
  const list = read('docs/decisions/README.md')
  const pages = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => name !== 'README.md')
  expect(pages.length).toBeGreaterThan(0)
  expect(pages.filter((name) => !list.includes(`(${name})`))).toEqual([])
})

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}

/** The code may cite a decision by its number alone. */
function citedPage(link: string): string {
  if (!/^docs\/decisions\/\d{4}$/.test(link)) return link
  const number = link.slice(-4)
  const name = readdirSync(join(ROOT, 'docs/decisions')).find((page) => page.startsWith(number))
  return `docs/decisions/${name ?? number}`
}

function linksOf(page: string): string[] {
  const text = read(page).replace(/^(```+)[^]*?^\1/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  const place = join(ROOT, target)
  if (!existsSync(place)) return false
  if (heading === undefined) return true
  return statSync(place).isFile() && headingsOf(target).includes(heading)
}

/** As the usual viewers make them: lower case, blanks to dashes, everything else but letters gone. */
function headingsOf(page: string): string[] {
  const text = read(page).replace(/^(```+)[^]*?^\1/gm, '')
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  )
}
