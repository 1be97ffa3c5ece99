// A process with low priority, as one that cron or a build starts with `nice`. Only root may raise a priority, so the program must not
// try.
import { spawnSync } from 'node:child_process'
import { chownSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../support/crash-child.mjs')
const NOBODY = 65_534
/** Enough for hash threads. */
const FILES = Object.fromEntries(Array.from({ length: 700 }, (_, n) => [`f${n}`, `${n}\n`]))

test.each(['0', '19'])('a process with nice %s can save many files', async (nice) => {
  await using s = await scratch({ files: FILES })
  if (process.getuid?.() === 0) chownSync(s.folder, NOBODY, NOBODY)
  const { uid } = statSync(s.folder)
  const request = JSON.stringify({ home: s.home, project: s.project, run: [['save', {}]], uid })
  const { stdout, stderr } = spawnSync('nice', ['-n', nice, process.execPath, CHILD, request], {
    cwd: '/',
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toMatchObject({ results: [{ created: true, files: 700 }] })
})
