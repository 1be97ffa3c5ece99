// `failed` in lists and details: the hooks of an agent record it in the metadata.
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

const CALL = { agentSession: 'a', at: 'after-tool', calls: ['Bash: npm test'] }

test.each([['plain'], ['encrypted']])('a failed call is marked in a %s store', async (form) => {
  await using s = await scratch({ files: { a: '0' } })
  const encryption = form === 'plain' ? {} : { encryption: { key: '7'.repeat(64) } }
  const store = await s.open(encryption)
  const project = await store.project(s.project)
  const session = await store.session('agent', { project })
  const save = (metadata: object) => session.save({ files: true, metadata })
  const failed = await save({ ...CALL, failed: true })
  const others = [
    await save(CALL),
    // Only the hooks of agents decide it.
    await save({ failed: true }),
    await save({ ...CALL, failed: 'true' }),
  ]
  const marks = (await project.list()).map((row) => [row.id, row.failed])
  expect(marks.reverse()).toEqual([[failed.id, true], ...others.map(({ id }) => [id, undefined])])
  expect((await project.show(failed.id)).failed).toBe(true)
  for (const { id } of others) expect(await project.show(id)).not.toHaveProperty('failed')
})
