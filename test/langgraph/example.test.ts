import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sharedPlace } from '../support/sharing/fleet.js'
import { scratch } from '../support/scratch.js'

const place = sharedPlace()

function runExample(environment: Readonly<Record<string, string>>): string {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const page = readFileSync(new URL('../../docs/guide/langgraph.md', import.meta.url), 'utf8')
  const [, example = ''] = /```js\n([^`]*(?:`[^`]+`[^`]*)*)```/.exec(page) ?? []
  return execFileSync(process.execPath, ['--input-type=module', '--eval', example], {
    cwd,
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })
}

test('the example in docs/guide/langgraph.md runs', async () => {
  await using it = await scratch()
  expect(runExample({ SAVESTATE_HOME: it.home })).toBe('Hi, Hello 1\n')
})

test('with a remote, it continues on another host', async () => {
  const said = []
  for (const _ of [1, 2]) {
    await using it = await scratch()
    said.push(runExample({ SAVESTATE_HOME: it.home, SAVESTATE_REMOTE: place().url }))
  }
  expect(said).toEqual(['Hi, Hello 1\n', 'Hi, Hello 1, Hi, Hello 3\n'])
})
