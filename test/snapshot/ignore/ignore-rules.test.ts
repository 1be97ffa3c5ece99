import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { bytePath, bytePathFromBytes, ROOT } from '../../../src/model/index.js'
import {
  compileIgnoreList,
  extend,
  type IgnoreChain,
  findVerdict,
} from '../../../src/snapshot/ignore/ignore-rules.js'

const EXACT = { ignoreCase: false }

describe('one list', () => {
  test('the last matching rule decides, for every kind of lookup', () => {
    const file = 'a.log\n!*.log\na.l?g\n!/a.log\n'
    const lines = file.split('\n')
    const answers = [1, 2, 3, 4].map((count) => says(lines.slice(0, count).join('\n'), 'a.log'))
    expect(answers).toEqual(['ignored', 'included', 'ignored', 'included'])
  })

  test('there is no verdict if no rule matches', () => {
    expect(says('*.log\n', 'a.txt')).toBeUndefined()
    expect(findVerdict(undefined, bytePath('a'), false)).toBeUndefined()
  })

  test('the root is never ignored', () => {
    expect(says('*\n**\n', '')).toBeUndefined()
  })

  test('a folder rule does not match files', () => {
    expect(says('build/\n', 'build')).toBeUndefined()
    expect(says('build/\n', 'build/')).toBe('ignored')
    expect(says('build\n!build/\n', 'build')).toBe('ignored')
    expect(says('build\n!build/\n', 'build/')).toBe('included')
  })

  test('a name matches at any depth, a path only from the folder of the file', () => {
    expect(says('a\n', 'x/y/a')).toBe('ignored')
    expect(says('/a\n', 'a')).toBe('ignored')
    expect(says('/a\n', 'x/a')).toBeUndefined()
    expect(says('x/a\n', 'x/a')).toBe('ignored')
    expect(says('x/a\n', 'y/x/a')).toBeUndefined()
    expect(says('**/a\n', 'x/y/a')).toBe('ignored')
    expect(says('**/x/a\n', 'y/x/a')).toBe('ignored')
  })

  test('a glob is found by its first byte, its last byte, or neither', () => {
    const file = 'a[bc]\n[xy]?\n*[0-9]\n*m*\n'
    expect(['ab', 'ad', 'y_', 'z_', 'q7', 'qq', 'imp'].map((name) => says(file, name))).toEqual([
      'ignored',
      undefined,
      'ignored',
      undefined,
      'ignored',
      undefined,
      'ignored',
    ])
  })

  test('suffixes with several dots, without a dot, and empty ones match', () => {
    expect(says('*.tar.gz\n', 'a.tar.gz')).toBe('ignored')
    expect(says('*.tar.gz\n', 'a.gz')).toBeUndefined()
    expect(says('*.gz\n', '.gz')).toBe('ignored')
    expect(says('*~\n', 'a.b~')).toBe('ignored')
    expect(says('*\n', 'a')).toBe('ignored')
  })

  test('names of JavaScript properties are ordinary names', () => {
    expect(says('constructor\n', 'constructor')).toBe('ignored')
    expect(says('a\n', '__proto__')).toBeUndefined()
  })

  test('case is ignored for ASCII letters, not for other bytes', () => {
    const list = compileIgnoreList('Build\n*.LOG\n/Src/A*\n\xc9\n', ROOT, { ignoreCase: true })
    const chain = extend(undefined, list)
    const asked = ['bUILD', 'x.log', 'src/ab', '\xc9', '\xe9'].map((text) =>
      bytePathFromBytes(Buffer.from(text, 'latin1')),
    )
    expect(asked.filter((path) => findVerdict(chain, path, false) === 'ignored')).toEqual(
      asked.slice(0, 4),
    )
  })
})

describe('a chain', () => {
  test('the list added last decides if it matches, otherwise the previous one', () => {
    const outer = extend(undefined, compileIgnoreList('*.log\n*.tmp\n', ROOT, EXACT))
    const inner = extend(outer, compileIgnoreList('!keep.log\n', bytePath('a'), EXACT))
    expect(findVerdict(inner, bytePath('a/keep.log'), false)).toBe('included')
    expect(findVerdict(inner, bytePath('a/keep.tmp'), false)).toBe('ignored')
    expect(findVerdict(outer, bytePath('b/keep.log'), false)).toBe('ignored')
  })

  test('a list anchors its rules in its own folder', () => {
    const chain = extend(undefined, compileIgnoreList('/x\n', bytePath('a/b'), EXACT))
    expect(findVerdict(chain, bytePath('a/b/x'), false)).toBe('ignored')
    expect(findVerdict(chain, bytePath('a/b/c/x'), false)).toBeUndefined()
  })

  test('a list above the root sees the whole path', () => {
    const prefix = bytePath('apps/web')
    const list = compileIgnoreList('/apps/*/dist\n/dist2\n', ROOT, { ignoreCase: false, prefix })
    const chain = extend(undefined, list)
    expect(findVerdict(chain, bytePath('dist'), true)).toBe('ignored')
    expect(findVerdict(chain, bytePath('dist2'), true)).toBeUndefined()
  })
})

test('30,000 paths against 60 rules take milliseconds', () => {
  const chain = extend(undefined, compileIgnoreList(SIXTY.join('\n'), ROOT, EXACT))
  const paths = Array.from({ length: 30_000 }, (_, i) =>
    bytePath(`src/part-${i % 97}/inner/file-${i}.${['ts', 'tsx', 'json', 'log', 'md'][i % 5]}`),
  )
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage()
    const ignored = paths.filter((path) => findVerdict(chain, path, false) === 'ignored')
    expect(ignored.length).toBe(6_000)
    return process.cpuUsage(start).user / 1000
  })
  // About 10 ms on an idle machine; the bound is for one that is not, in processor time.
  expect(Math.min(...times)).toBeLessThan(250)
})

const SIXTY = `
  node_modules/ bower_components/ .venv/ venv/ __pycache__/ .tox/ .nox/ .mypy_cache/ .pytest_cache/
  .ruff_cache/ .gradle/ .m2/ target/ dist/ build/ out/ .next/ .nuxt/ .turbo/ .parcel-cache/ .cache/
  coverage/ .nyc_output/ .terraform/ .idea/ .vs/ Pods/ DerivedData/ .dart_tool/ .DS_Store Thumbs.db
  desktop.ini .env .env.* !.env.example .eslintcache *.log *.pyc *.pyo *.py[cod] *.class *.o *.obj
  *.so *.dylib *.dll *.exe *.swp *.swo *~ *.tmp *.egg-info/ npm-debug.log* yarn-error.log* *.iml
  cmake-build-*/ /bazel-* *.tsbuildinfo .Trash-*/ .svn/`
  .trim()
  .split(/\s+/)

/** A path that ends in a slash is a folder. */
function says(file: string, path: string): ReturnType<typeof findVerdict> {
  const chain: IgnoreChain = extend(undefined, compileIgnoreList(file, ROOT, EXACT))
  return findVerdict(chain, bytePath(path.replace(/\/$/, '')), path.endsWith('/'))
}
