// An index of attacks on a project, with the required outcomes. Each class of attack has one
// row here; other suites test the variants.
import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { describe } from 'vitest'
import { importFrom } from '../../src/imports/index.js'
import { parseYaml } from '../../src/yaml/index.js'
import {
  capturedFiles,
  saved,
  skippedFor,
  storedTree,
} from '../snapshot/capture/capture-helpers.js'
import { blobOf, git, makeVersion1, treeEntry, writeRawTree } from '../imports/hermes-folder.js'
import { HandClock, idsOf } from '../engine/prune/prune-helpers.js'
import { outcome, type Target, testAttacks } from './attack-table.js'

describe('paths', () => {
  /** The outcome of each operation that takes a path. */
  const given = (pathOf: (target: Target) => string) => async (target: Target) => {
    const { project, first } = target
    const path = pathOf(target)
    return {
      rewind: await outcome(project.rewind(first, { paths: [path] })),
      diff: await outcome(project.diff(first, { paths: [path] })),
      file: await outcome(project.file(first, path)),
      forget: await outcome(project.forget(path)),
      content: readFileSync(join(target.project.path, 'a.txt'), 'utf8'),
    }
  }
  const REFUSED = {
    rewind: 'BAD_INPUT',
    diff: 'BAD_INPUT',
    file: 'BAD_INPUT',
    forget: 'BAD_INPUT',
    content: 'two',
  }
  testAttacks([
    ['a path climbs out of the project with ..', given(() => '../outside/precious'), REFUSED],
    ['a path climbs out behind a folder', given(() => 'dir/../../outside/precious'), REFUSED],
    ['.. is written by its octal numbers', given(() => '"\\056\\056/outside/precious"'), REFUSED],
    ['a path is absolute', given(({ outside }) => join(outside, 'precious')), REFUSED],
    ['a path is empty, because a variable was', given(() => ''), REFUSED],
    ['a path contains a NUL byte', given(() => 'a.txt\0.png'), REFUSED],
    [
      'a path leads through a link in the project',
      (target) => {
        symlinkSync(target.outside, join(target.project.path, 'link'))
        return given(() => 'link/precious')(target)
      },
      // Behind a link there is nothing of the project, so nothing to compare or to restore.
      { ...REFUSED, rewind: 'done', diff: 'done' },
    ],
    [
      'forget is given the project itself',
      ({ project }) => outcome(project.forget('.')),
      'BAD_INPUT',
    ],
  ])
})

describe('links', () => {
  const swapFor = (target: Target, to: string) => {
    const dir = join(target.project.path, 'dir')
    renameSync(dir, join(target.folder, 'away'))
    symlinkSync(to, dir)
  }
  testAttacks([
    [
      'a folder becomes a link to outside between the plan of a rewind and its first change',
      async (target) => {
        target.clock.afterPlan(() => swapFor(target, target.outside))
        // It may end with an error or make the folder again. It must not write through the link.
        await outcome(target.project.rewind(target.first))
        return readFileSync(join(target.folder, 'away/b.txt'), 'utf8')
      },
      'two',
    ],
    [
      'a folder has become a link to outside when a rewind begins',
      async (target) => {
        swapFor(target, target.outside)
        await target.project.rewind(target.first)
        return readFileSync(join(target.project.path, 'dir/b.txt'), 'utf8')
      },
      'one',
    ],
    [
      'a folder has become a link to outside when a save begins',
      async (target) => {
        swapFor(target, target.outside)
        const { ref } = await saved(target.project)
        return [...storedTree(target, ref)].map(([path, { type }]) => `${type} ${path}`)
      },
      ['file a.txt', 'link dir'],
    ],
  ])
})

describe('imports', () => {
  const T0 = 1_700_000_000
  const good = { reason: 'good', at: T0, files: { 'a.txt': 'good\n' } }
  /** The names in a commit that is not safe. */
  const treeWith = (name: string) => async (target: Target) => {
    const base = join(target.folder, 'hermes')
    const gitDir = makeVersion1(base, target.project.path, [good])
    const inner = writeRawTree(gitDir, treeEntry('100644', 'config', blobOf(gitDir, 'evil')))
    const tree = writeRawTree(gitDir, treeEntry('40000', name, inner))
    const commit = git(gitDir, ['commit-tree', tree, '-p', 'HEAD'], { input: 'evil' })
    git(gitDir, ['update-ref', 'HEAD', commit])
    const { added, problems } = await importFrom(target.store, 'hermes', { path: base })
    return [added, problems.map(({ source }) => source.endsWith(commit))]
  }
  const yaml = (text: string) => () => outcome((async () => parseYaml({ text, source: 'it' }))())
  testAttacks([
    ['a tree contains a folder called ..', treeWith('..'), [1, [true]]],
    ['a tree contains .git, to plant hooks by a rewind', treeWith('.git'), [1, [true]]],
    ['a tree contains git~1, which is .git on other systems', treeWith('git~1'), [1, [true]]],
    [
      'the header of an object claims 99999999999 bytes, so that the reader waits for ever',
      async (target) => {
        const base = join(target.folder, 'hermes')
        const gitDir = makeVersion1(base, target.project.path, [good])
        const id = git(gitDir, ['rev-parse', 'HEAD:a.txt'])
        const path = join(gitDir, 'objects', id.slice(0, 2), id.slice(2))
        renameSync(path, `${path}-before`)
        writeFileSync(path, deflateSync('blob 99999999999\0x'))
        const { added, problems } = await importFrom(target.store, 'hermes', { path: base })
        const checkpoints = await target.project.list()
        const imported = checkpoints.find(({ reason }) => reason === 'good')
        return [added, problems, imported?.skippedByReason]
      },
      [1, [], { 'too-large': 1 }],
    ],
    ['a YAML mapping has the same key twice', yaml('a: 1\na: 2\n'), 'BAD_INPUT'],
    ['a YAML tag makes an object of Python', yaml('!!python/object:os.system [x]'), 'BAD_INPUT'],
    [
      'YAML aliases multiply to 2^30 values',
      yaml(
        Array.from({ length: 30 }, (_, i) =>
          i === 0 ? 'a0: &a0 [x]' : `a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`,
        ).join('\n'),
      ),
      'BAD_INPUT',
    ],
    [
      'a YAML key is __proto__, to give every object a property',
      async () => {
        const text = '__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}\n'
        const value = Object(parseYaml({ text, source: 'it' })) as object
        return [Object.keys(value), 'polluted' in value, 'polluted' in {}]
      },
      [['__proto__', 'constructor'], false, false],
    ],
    [
      'a key of an agent state is __proto__',
      async ({ store }) => {
        const session = await store.session('s')
        await session.save({ state: JSON.parse('{"__proto__": {"polluted": true}}') })
        await session.close()
        const { state } = await store.resume('s')
        return [Object.keys(Object(state)), 'polluted' in Object(state), 'polluted' in {}]
      },
      [['__proto__'], false, false],
    ],
  ])
})

describe('files of a repository', () => {
  /** The files that a save leaves out as secrets. */
  const secretsWith = (file: string, text: string) => async (target: Target) => {
    target.write({ '.env': 'TOKEN=x', [file]: text })
    return skippedFor(await saved(target.project), 'secret')
  }
  /** A save, a rewind and a diff in a repository whose configuration names programs. */
  const withPrograms = (gitDirOf: (target: Target) => string) => async (target: Target) => {
    const { project, trap } = target
    const gitDir = gitDirOf(target)
    const hook = { content: `#!/bin/sh\n${trap}\n`, mode: 0o755 }
    const hooks = ['pre-commit', 'post-index-change', 'reference-transaction', 'pre-auto-gc']
    target.write(Object.fromEntries(hooks.map((name) => [`hooks/${name}`, hook])), gitDir)
    const config = `${readFileSync(join(gitDir, 'config'), 'utf8')}
[core]\n\tfsmonitor = ${trap}\n\tpager = ${trap}\n\tsshCommand = ${trap}\n\thooksPath = ${gitDir}/hooks
[diff]\n\texternal = ${trap}\n[filter "x"]\n\tclean = ${trap}\n\tsmudge = ${trap}\n\trequired = true
[gpg]\n\tprogram = ${trap}\n[commit]\n\tgpgSign = true\n[alias]\n\tcat-file = !${trap}\n`
    writeFileSync(join(gitDir, 'config'), config)
    target.write({ '.gitattributes': '* filter=x diff=x\n', 'new.txt': 'new' })
    const { ref } = await saved(project)
    const { changes } = await project.diff(target.first, { paths: ['a.txt'] })
    await project.rewind(target.first)
    return [capturedFiles(target, ref).includes('new.txt'), changes.length]
  }
  testAttacks([
    [
      '.savestate.json shortens the history to one checkpoint',
      async (target) => {
        await saved(target.project)
        target.write({ '.savestate.json': '{"retention": "hermes", "maxCheckpoints": 1}' })
        await target.store.close()
        const clock = new HandClock()
        clock.pass(3_600_000)
        const store = await target.open({ clock })
        const project = await store.project(target.project.path)
        await store.prune()
        const kept = await idsOf(project)
        // The same file counts once the user trusts it.
        await project.internals.trustFiles((await project.config()).untrusted)
        await store.prune()
        return [kept.length, (await idsOf(project)).length]
      },
      [2, 1],
    ],
    [
      '.savestate.json lets secrets in',
      secretsWith('.savestate.json', '{"allowSecrets": [".env"]}'),
      ['.env'],
    ],
    ['.savestateignore lets secrets in', secretsWith('.savestateignore', '!.env\n'), ['.env']],
    [
      'the .git of the project names programs as hooks, filters, monitor and pager',
      withPrograms((target) => {
        target.git(['init', '-q'])
        return join(target.project.path, '.git')
      }),
      [true, 1],
    ],
    [
      'the objects.git of the store names programs as hooks, filters, monitor and pager',
      withPrograms(({ home }) => join(home, 'objects.git')),
      [true, 1],
    ],
  ])
})
