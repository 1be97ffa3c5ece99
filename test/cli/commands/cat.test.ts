// `savestate cat` prints one file of a checkpoint, or the reason why it cannot.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../../src/index.js'
import { prepared, PROGRAM, type Scratch, scratch } from '../program.js'

const BINARY = Buffer.from([0x68, 0x00, 0xff, 0x0d, 0x0a, 0x80])

const saved = prepared(() => {
  const s = scratch({ 'src/app.ts': 'one\n', '.env': 'KEY=1\n', 'node_modules/x.js': 'x\n' })
  writeFileSync(join(s.project, 'data.bin'), BINARY)
  chmodSync(join(s.project, 'src/app.ts'), 0o600)
  symlinkSync('src/app.ts', join(s.project, 'link'))
  s.run(['save', '--name', 'before: lunch'])
  s.write({ 'src/app.ts': 'two\n' })
  s.run(['save', '--session', 'fix'])
  rmSync(join(s.project, 'src'), { recursive: true })
  return s
})

const textOf = (s: Scratch, ...args: string[]) => {
  const { code, stdout, stderr } = s.run(['cat', ...args])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}
const errorOf = (s: Scratch, ...args: string[]) => {
  const { code, stdout, stderr } = s.run(['cat', ...args, '--json'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  const { error } = JSON.parse(stderr) as { error: Record<string, string> }
  return [error['code'], `${error['message']}. ${error['hint']}`]
}

test('a file is printed to the byte, a link as its target', () => {
  using s = saved()
  expect(textOf(s, '2:src/app.ts')).toBe('one\n')
  expect(textOf(s, '2', 'src/app.ts')).toBe('one\n')
  expect(textOf(s, '1:./src//app.ts')).toBe('two\n')
  expect(textOf(s, '1:link')).toBe('src/app.ts\n')
  const bytes = execFileSync(process.execPath, [PROGRAM, 'cat', '1:data.bin'], {
    cwd: s.project,
    env: s.environment,
  })
  expect(bytes.equals(BINARY)).toBe(true)
})

test('the checkpoint may be a name with colons, or one of a session', () => {
  using s = saved()
  expect(textOf(s, 'before: lunch:src/app.ts')).toBe('one\n')
  expect(textOf(s, '1:src/app.ts', '--session', 'fix')).toBe('two\n')
  mkdirSync(join(s.folder, 'elsewhere'))
  const away = s.run(['cat', '1:src/app.ts', '--session', 'fix'], {
    cwd: join(s.folder, 'elsewhere'),
  })
  expect(away).toEqual({ code: 0, stdout: 'two\n', stderr: '' })
})

test('a path is relative to the current folder', () => {
  using s = saved()
  mkdirSync(join(s.project, 'src'))
  const below = s.run(['cat', '1:app.ts'], { cwd: join(s.project, 'src') })
  expect(below).toEqual({ code: 0, stdout: 'two\n', stderr: '' })
})

test('JSON has the mode, and base64 for bytes that are not text', () => {
  using s = saved()
  expect(s.json(['cat', '1:src/app.ts'])).toEqual({
    checkpoint: expect.stringMatching(/^[a-z]{18}$/),
    path: 'src/app.ts',
    type: 'file',
    mode: '600',
    size: 4,
    content: 'two\n',
  })
  expect(s.json(['cat', '1:data.bin'])).toMatchObject({ contentBase64: BINARY.toString('base64') })
  expect(s.json(['cat', '1:link'])).toMatchObject({
    type: 'link',
    mode: null,
    content: 'src/app.ts',
  })
})

test('a missing file is reported with the reason', () => {
  using s = saved()
  s.write({ 'state.json': '{"a":1}' })
  s.run(['save', '--session', 'loose', '--state', 'state.json', '--no-files'])
  expect([
    errorOf(s, '2:src'),
    errorOf(s, '2:src/App.ts'),
    errorOf(s, '2:app.ts'),
    errorOf(s, '2:src/ap.ts'),
    errorOf(s, '2:nothing-like-it'),
    errorOf(s, '99:src/app.ts').slice(0, 1),
    errorOf(s, '1'),
    errorOf(s, '1:src/app.ts').slice(0, 1),
  ]).toEqual([
    ['BAD_INPUT', 'src is a folder in this checkpoint. It contains: app.ts. Name one of them.'],
    ['BAD_INPUT', 'This checkpoint has no src/App.ts. Did you mean src/app.ts?'],
    ['BAD_INPUT', 'This checkpoint has no app.ts. Did you mean src/app.ts?'],
    ['BAD_INPUT', 'This checkpoint has no src/ap.ts. Did you mean src/app.ts?'],
    [
      'BAD_INPUT',
      'This checkpoint has no nothing-like-it. Paths are relative to the current folder.',
    ],
    ['CHECKPOINT_UNKNOWN'],
    [
      'BAD_INPUT',
      'The path is missing. Usage: savestate cat <ref>:PATH, as in: savestate cat 1:src/app.ts',
    ],
    ['CHECKPOINT_PARTIAL'],
  ])
  expect(errorOf(s, '2:.env')).toEqual([
    'CHECKPOINT_PARTIAL',
    expect.stringMatching(
      /^\.env was not saved in this checkpoint: a secret, .*\. `savestate show/,
    ),
  ])
  expect(errorOf(s, '2:node_modules/x.js')).toEqual([
    'CHECKPOINT_PARTIAL',
    expect.stringContaining('node_modules is excluded by an ignore file or a default exclude'),
  ])
})

test('the SDK reads a file by its path in the project', async () => {
  using s = saved()
  const store = await openStore({ home: s.home, inProcess: true })
  const project = await store.project(s.project)
  const { content, ...file } = await project.file('before: lunch', 'data.bin')
  expect(Buffer.from(content).equals(BINARY)).toBe(true)
  expect(file).toMatchObject({ path: 'data.bin', type: 'file', mode: '644', size: BINARY.length })
  await expect(project.file('1', '../outside')).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await store.close()
})
