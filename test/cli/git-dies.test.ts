// Git that ends or is killed while a command waits for its answer: the command reports an error.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { prepared, type Scratch, scratch } from './program.js'

const withCheckpoints = prepared(() => {
  const s = scratch()
  for (const content of ['one', 'two']) {
    s.write({ 'a.txt': content, 'folder/b.txt': `${content} too` })
    s.run(['save', '-m', content])
  }
  return s
})

const COMMANDS = [
  ['rewind', '2', '-y'],
  ['diff', '2', '1'],
  ['show', '1'],
  ['forget', 'a.txt', '-y'],
]

test.each(COMMANDS)('a repository that is no longer valid: %s', (...args) => {
  using s = withCheckpoints()
  writeFileSync(join(s.home, 'objects.git', 'HEAD'), '')
  expect(s.run(args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('not a git repository'),
  })
})

test.each([0, 1, 2, 3, 4])('it is killed after %i answers', (answers) => {
  using s = withCheckpoints()
  const env = { PATH: `${mortalGit(s, answers)}${delimiter}${s.environment['PATH'] ?? ''}` }
  const { code, stdout, stderr } = s.run(['rewind', '2', '-y'], { env })
  const isBack = readFileSync(join(s.project, 'a.txt'), 'utf8') === 'one'
  const patterns = isBack ? [/^0$/, /^Rewound to /, /^$/] : [/^2$/, /^$/, /git \S+ failed/]
  for (const [at, text] of [`${code}`, stdout, stderr].entries())
    expect(text).toMatch(patterns[at] ?? 'nothing')
})

/** A folder with a git whose process for reading objects answers so many requests and is then killed, as by a lack of memory. */
function mortalGit({ folder }: Scratch, answers: number): string {
  const script = [
    '#!/bin/sh',
    'PATH=${PATH#*:}',
    'case "$*" in *cat-file*--batch*)',
    `  for n in $(seq ${answers}); do read -r line; echo "$line" | git "$@"; done`,
    '  read -r line; kill -9 $$ ;;',
    'esac',
    'exec git "$@"',
    '',
  ]
  const bin = join(folder, 'user')
  writeFileSync(join(bin, 'git'), script.join('\n'))
  chmodSync(join(bin, 'git'), 0o755)
  return bin
}
