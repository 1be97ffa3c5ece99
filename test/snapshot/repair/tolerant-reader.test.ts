// A git that another process kills is no damage: a checkpoint that is marked as damaged cannot be restored.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { parseObjectId } from '../../../src/model/ids.js'
import { TolerantReader } from '../../../src/snapshot/repair/tolerant-reader.js'
import { git, scratchFolders, storeBlobs } from '../../support/scratch-git.js'

const newFolder = scratchFolders()

test('an object is read although git is killed', async () => {
  const folder = newFolder()
  const repository = join(folder, 'repository')
  mkdirSync(repository)
  git(repository, ['init', '-q', '--bare'])
  const content = Buffer.from('content')
  const [id = ''] = storeBlobs(repository, [content])
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const script = `#!/bin/sh
for a in "$@"; do case "$a" in --batch*) mark="${folder}/killed$a" ;; esac; done
if [ ! -e "$mark" ]; then touch "$mark"; read -r line; kill -9 $$; fi
exec '${real}' "$@"
`
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  writeFileSync(join(programs, 'git'), script)
  chmodSync(join(programs, 'git'), 0o755)
  const { PATH } = process.env
  process.env['PATH'] = `${programs}${delimiter}${PATH}`
  const reader = new TolerantReader(repository)
  try {
    expect(await reader.exists(id)).toBe(true)
    expect(await reader.read('blob', parseObjectId(id))).toEqual(content)
  } finally {
    reader.close()
    process.env['PATH'] = PATH
  }
  for (const option of ['--batch', '--batch-check'])
    expect(existsSync(join(folder, `killed${option}`))).toBe(true)
})
