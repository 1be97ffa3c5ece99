// Other versions of git, simulated by the installed git with another version number. Real versions 2.34 and 2.55 were tested
// manually.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../../cli/program.js'

const SINCE_2_39 = /^\tgitattributes(?:Blob|Large|LineLength) = ignore$/m

test('a git that is too old is reported, with the required version', () => {
  using s = scratch({ 'a.txt': 'a' })
  const { code, stderr } = s.run(['save'], { env: gitSaying(s, '2.33.8') })
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'Error: git is too old: git version 2.33.8.\nInstall git 2.34 or newer.\n',
  })
})

test('a store created by a newer git can be converted for the installed git', () => {
  using s = scratch({ 'a.txt': 'a' })
  s.run(['save'], { env: gitSaying(s, '2.47.1') })
  expect(configOf(s)).toMatch(SINCE_2_39)
  const env = gitSaying(s, '2.34.1')
  expect(s.run(['verify'], { env })).toMatchObject({
    code: 2,
    stdout: expect.stringContaining(
      'repository: does not contain what the installed git needs (objects.git/config)',
    ),
  })
  expect(s.run(['repair', '--yes'], { env })).toMatchObject({ code: 0 })
  expect(configOf(s)).not.toMatch(SINCE_2_39)
  expect(s.run(['verify'], { env })).toMatchObject({ code: 0 })
})

test('in a store created by an older git, the stricter checks of a newer git on user files are not damage', () => {
  using s = scratch({ '.gitattributes': `*.x ${'a'.repeat(5000)}\n` })
  symlinkSync('nowhere', join(s.project, '.gitignore'))
  s.run(['save'], { env: gitSaying(s, '2.34.1') })
  expect(configOf(s)).not.toMatch(SINCE_2_39)
  expect(s.run(['verify'])).toMatchObject({
    code: 0,
    stdout: '1 checkpoint checked: the store is intact.\n',
  })
})

function configOf({ home }: Scratch): string {
  return readFileSync(join(home, 'objects.git/config'), 'utf8')
}

/** An environment in which git reports this version. */
function gitSaying(s: Scratch, version: string): Readonly<Record<string, string>> {
  const folder = join(s.folder, `git-${version}`)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'git')
  const { PATH = '' } = s.environment
  const isAsked = 'case "$*" in *--version*)'
  writeFileSync(
    path,
    `#!/bin/sh\n${isAsked} echo 'git version ${version}'; exit;; esac\nPATH='${PATH}' exec git "$@"\n`,
  )
  chmodSync(path, 0o755)
  return { PATH: `${folder}:${PATH}` }
}
