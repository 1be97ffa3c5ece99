// The package that `npm pack` makes works where it is installed: the command, the SDK and its types.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeWhole } from '../support/remove-folder.js'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const scratchFolder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-package-')))
const consumer = join(scratchFolder, 'consumer')
const home = join(scratchFolder, 'home')
const project = join(scratchFolder, 'project')

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string
}

let tarball: string
let contents: readonly string[]

beforeAll(() => {
  for (const folder of [consumer, project]) mkdirSync(folder)
  npm(['pack', '--ignore-scripts', '--pack-destination', scratchFolder], ROOT)
  const [name] = readdirSync(scratchFolder).filter((entry) => entry.endsWith('.tgz'))
  tarball = join(scratchFolder, name ?? '')
  contents = execFileSync('tar', ['-tzf', tarball])
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
  writeFileSync(join(consumer, 'package.json'), '{ "private": true, "type": "module" }\n')
  npm(['install', '--prefer-offline', tarball], consumer)
}, 300_000)

afterAll(() => removeWhole(scratchFolder))

test('the tarball holds the program, its types and the papers, and nothing else: no bytecode', () => {
  for (const path of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']) {
    expect(contents).toContain(path)
  }
  for (const path of [
    'dist/index.js',
    'dist/cli/entry.js',
    'dist/cli/bin.js',
    'dist/types/index.d.ts',
    'dist/third-party-licenses.txt',
    'dist/ui/index.html',
    'dist/ui/export.html',
  ]) {
    expect(contents).toContain(path)
  }
  const allowed =
    /^(?:package\.json|(?:README|CHANGELOG|CONTRIBUTING|AGENTS|SECURITY)\.md|LICENSE|docs\/.+\.(?:md|svg|png)|examples\/\w+\.mjs|plugins\/(?:claude|gemini)\/.+\.json|dist\/index\.cjs|dist\/third-party-licenses\.txt|dist\/(?:cli\/)?[\w-]+\.js|dist\/cli\/package\.json|dist\/prebuilds\/[\w-]+\/@photostructure\+sqlite\.(?:glibc|musl)\.node|dist\/types\/.+\.d\.ts|dist\/ui\/export\.html|dist\/ui\/(?:index\.html|assets\/[\w-]+\.(?:css|js|svg|wasm))(?:\.br)?)$/
  expect(contents.filter((path) => !allowed.test(path))).toEqual([])
  expect(contents.filter((path) => /\.test\.|\bscratch|\bsample-/.test(path))).toEqual([])
})

test('the first line of the README packs the program in a clone that was never built', () => {
  const clone = join(scratchFolder, 'clone')
  execFileSync('git', ['clone', '--quiet', ROOT, clone], { stdio: 'pipe' })
  // As the set-up would install them.
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, pack = '', name = ''] =
    /^npm (pack[^&\n]*) && npm install -g \.\/(\S+\.tgz)$/m.exec(readme) ?? []
  npm(pack.trim().split(' '), clone)
  const packed = execFileSync('tar', ['-tzf', join(clone, name)], { encoding: 'utf8' }).split('\n')
  expect(packed).toContain('package/dist/cli/bin.js')
  expect(packed.filter((path) => path.startsWith('package/dist/')).length).toBe(
    contents.filter((path) => path.startsWith('dist/')).length,
  )
}, 300_000)

test('installed, it brings along only what the program needs, and runs no script', () => {
  const { dependencies } = JSON.parse(npm(['ls', '--json', '--all'], consumer)) as {
    readonly dependencies: Readonly<Record<string, unknown>>
  }
  expect(Object.keys(dependencies)).toEqual(['savestate'])
  const installed = readdirSync(join(consumer, 'node_modules')).filter(
    (name) => !name.startsWith('.'),
  )
  expect(installed).toEqual(['savestate'])
  const packed = JSON.parse(
    readFileSync(join(consumer, 'node_modules/savestate/package.json'), 'utf8'),
  ) as { readonly scripts?: Readonly<Record<string, string>> }
  for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
    expect(packed.scripts ?? {}).not.toHaveProperty(script)
  }
})

test('the command runs: version, save, list, diff, rewind, undo', () => {
  writeFileSync(join(project, 'a.txt'), 'one\n')
  const npx = ['npx', '--no-install', 'savestate']
  expect(run(npx, ['--version']).trim()).toContain(version)
  const installed = [join(consumer, 'node_modules/.bin/savestate')]
  const savestate = (...args: readonly string[]) => run(installed, [...args, '-C', project])
  const saved = JSON.parse(savestate('save', '-m', 'first', '--json')) as {
    readonly id: string
    readonly created: boolean
  }
  expect(saved).toMatchObject({ created: true, reason: 'first' })
  writeFileSync(join(project, 'a.txt'), 'two\n')
  writeFileSync(join(project, 'made.txt'), 'made later\n')
  expect(savestate('diff', '1')).toContain('+two')
  const rewound = JSON.parse(savestate('rewind', '1', '--yes', '--json')) as object
  expect(rewound).toMatchObject({ applied: true })
  expect(readdirSync(project)).toEqual(['a.txt'])
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one\n')
  savestate('undo', '--yes')
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('two\n')
  const { checkpoints } = JSON.parse(savestate('list', '--json')) as {
    readonly checkpoints: readonly { readonly id: string }[]
  }
  expect(checkpoints.at(-1)?.id).toBe(saved.id)
})

test('the public API is these values', () => {
  const script = `import('savestate').then((sdk) => console.log(Object.keys(sdk).join(' ')))`
  const names = [
    'ClassRegistry',
    'DEFAULT_LIMITS',
    'ERROR_CODES',
    'Project',
    'SavestateError',
    'Session',
    'Store',
    'autoSave',
    'doctorStore',
    'fromJsonForm',
    'openStore',
    'repairStore',
    'toJsonForm',
    'verifyStore',
  ]
  expect(run([process.execPath], ['--input-type=commonjs', '-e', script])).toBe(
    `${names.join(' ')}\n`,
  )
})

test('what is required is what is imported', () => {
  const script = `
    const required = require('savestate')
    import('savestate').then((imported) =>
      console.log(Object.keys(imported).every((name) => imported[name] === required[name])))`
  expect(run([process.execPath], ['--input-type=commonjs', '-e', script])).toBe('true\n')
})

const SDK_SCRIPT = `
  import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
  import { openStore, SavestateError } from 'savestate'
  const [home, folder] = process.argv.slice(-2)
  mkdirSync(folder)
  writeFileSync(folder + '/x.txt', 'one')
  const store = await openStore({ home })
  const project = await store.project(folder)
  const { id } = await project.save({ reason: 'first' })
  writeFileSync(folder + '/x.txt', 'two')
  await project.rewind(id)
  const text = readFileSync(folder + '/x.txt', 'utf8')
  const error = await project.show('absent').catch((reason) => reason)
  const { problems } = await store.verify()
  await store.close()
  const known = error instanceof SavestateError
  console.log(JSON.stringify({ text, problems, known, code: error.code }))
`

test.each([
  ['file', () => ['script.js']],
  ['text on the command line', () => ['--input-type=module', '--eval', SDK_SCRIPT, '--']],
])('the SDK works from another package, in a %s', (_, args) => {
  writeFileSync(join(consumer, 'script.js'), SDK_SCRIPT)
  const folder = mkdtempSync(join(scratchFolder, 'sdk-'))
  const output = execFileSync(
    process.execPath,
    [...args(), join(folder, 'home'), join(folder, 'project')],
    { cwd: consumer, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  expect(JSON.parse(output.toString('utf8'))).toEqual({
    text: 'one',
    problems: [],
    known: true,
    code: 'CHECKPOINT_UNKNOWN',
  })
})

test.each([{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }])(
  'its types compile, strictly, with the types of Node and nothing else: %j',
  (resolution) => {
    const source = `
    import { openStore, SavestateError, type CheckpointView, type ErrorCode, type PlanView, type ProjectRewindOptions, type RewindResult } from 'savestate'

    export async function goBack(folder: string): Promise<string[]> {
      const store = await openStore({ home: '/tmp/home', durability: 'process', limits: { maxFiles: 10 } })
      const project = await store.project(folder)
      const saved = await project.save({ reason: 'first' })
      const created: boolean = saved.created
      const at: Date = saved.createdAt
      for await (const { id } of project.iterate({ since: at, name: 'x' })) void id
      await using watch = project.watch()
      const signal = AbortSignal.timeout(1000)
      const { session, state } = await store.resume<{ notes: string[] }>('task', { create: true, project, signal })
      session.on('saved', ({ step }) => void step).once('closed', ({ id }) => void id)
      await session.append('notes', [state?.notes[0] ?? ''], { ifHead: null })
      await session.step('key', () => 1)
      await session.resolveToolCall('call', { as: 'confirmed', result: watch })
      const checkpoints = await project.list({ limit: 5 })
      const hooks: ProjectRewindOptions = {
        confirm: async (plan: PlanView) => plan.conflict.length === 0 && created,
        onWarning: (text: string) => { void text },
      }
      const newest: CheckpointView | undefined = checkpoints[0]
      const result: RewindResult = await project.rewind(newest?.id ?? saved.id, { paths: ['a'], ...hooks })
      const diff = await project.diff(saved.id)
      const patch: string | null = diff.patch
      await project.undo()
      await store.close()
      return [patch ?? '', ...result.plan.write.map(({ path }) => path)]
    }

    export function codeOf(error: unknown): ErrorCode | undefined {
      return error instanceof SavestateError ? error.code : undefined
    }

    // @ts-expect-error: it must be a text
    void openStore({ home: 5 })
    // @ts-expect-error: there is no such code
    export const wrong: ErrorCode = 'NO_SUCH_CODE'
  `
    const folder = join(consumer, `typed-${resolution.module}`, 'typed')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'use.ts'), source)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          ...resolution,
          target: 'es2022',
          lib: ['es2023', 'esnext.disposable'],
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          noEmit: true,
          typeRoots: [join(ROOT, 'node_modules/@types')],
          // Also without an explicit request for the types of Node.
          types: [],
        },
        files: ['use.ts'],
      }),
    )
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
    const check = [tsc, '-p', folder, '--listFiles']
    const { status, stdout } = spawnSync(process.execPath, check, { encoding: 'utf8' })
    // Node would also find a package in a folder above, which would hide a missing one.
    const known = /\/(?:typed|savestate\/dist\/types|@?typescript|@types\/node|undici-types)\//
    const others = stdout.split('\n').filter((line) => line !== '' && !known.test(line))
    expect({ status, others }).toEqual({ status: 0, others: [] })
  },
)

function npm(args: readonly string[], cwd: string): string {
  const all = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...args]
  return execFileSync('npm', all, {
    cwd,
    env: { ...environment(), NODE_EXTRA_CA_CERTS: process.env['CA_CERTS_FOR_NPM'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  }).toString('utf8')
}

function run([program = '', ...first]: readonly string[], args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, [...first, ...args], {
    cwd: consumer,
    env: environment(),
    encoding: 'utf8',
  })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

/** Without what `npm test` itself has put there. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !name.startsWith('npm_') && name !== 'NODE_EXTRA_CA_CERTS' && !name.startsWith('VITEST'),
  )
  return { ...Object.fromEntries(kept), SAVESTATE_HOME: home, NO_COLOR: '1' }
}
