import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { scratch } from '../support/scratch.js'

test('the example in docs/guide/langgraph.md runs', async () => {
  await using it = await scratch()
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const page = readFileSync(new URL('../../docs/guide/langgraph.md', import.meta.url), 'utf8')
  const [, example = ''] = /```js\n([^`]*(?:`[^`]+`[^`]*)*)```/.exec(page) ?? []
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', example], {
    cwd,
    env: { ...process.env, SAVESTATE_HOME: it.home },
    encoding: 'utf8',
  })
  expect(said).toBe('Hi, Hello 1\n')
})
