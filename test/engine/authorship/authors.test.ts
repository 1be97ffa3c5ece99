// Attribution: people and agents work in one folder, the agents send their events, and a model knows the author of each
// byte.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { handleHook } from '../../../src/agents/hooks/handle-hook.js'
import { tries } from '../../support/test-budget.js'
import { scratch } from '../../support/scratch.js'

type Agent = 'claude' | 'codex'
type Act =
  | { readonly type: 'edit'; readonly file: string }
  | { readonly type: 'save' }
  | { readonly type: 'call' | 'end' | 'kill' | 'turn'; readonly agent: Agent }

const FILES = ['f0', 'f1', 'f2', 'f3']
const agent = fc.constantFrom<Agent>('claude', 'codex')
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('edit' as const), file: fc.constantFrom(...FILES) }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('call' as const), agent }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('end' as const), agent }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill' as const), agent }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('turn' as const), agent }) },
  { weight: 1, arbitrary: fc.constant({ type: 'save' as const }) },
)

test('no change of the user is attributed to an agent alone, and --keep-mine never reverts it', async () => {
  await using s = await scratch()
  const store = await s.open()
  let number = 0
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 16 }), async (acts) => {
      number += 1
      const root = join(s.folder, `p${number}`)
      mkdirSync(root)
      for (const file of FILES) writeFileSync(join(root, file), 'at first\n')
      const project = await store.project(root)
      await project.save({ name: 'start' })

      const calls = new Map<Agent, number>()
      let written = 0
      /** The authors since the newest checkpoint. */
      let since = new Set<string>()
      let newest = (await project.list({ limit: 1 }))[0]?.id
      const truth = new Map<string, ReadonlySet<string>>()
      /** The last content that the user wrote. */
      const usersContent = new Map<string, string>()
      let isClear = true

      const looked = async () => {
        const checkpoints = await project.list({ limit: 4 })
        const end = checkpoints.findIndex(({ id }) => id === newest)
        const fresh = checkpoints.slice(0, end).reverse()
        for (const { id } of fresh.filter(({ files }) => files > 0).slice(0, 1)) {
          truth.set(id, since)
          since = new Set()
        }
        newest = checkpoints[0]?.id
      }
      const event = async (who: Agent, eventName: string, fields: object) => {
        const payload = { session_id: `${who}-${number}`, cwd: root, ...fields }
        const answer = await handleHook(store, { agent: who, eventName, payload })
        expect(answer).toEqual({ stdout: '', stderr: '', exitCode: 0 })
        await looked()
      }
      const tool = (call: number) => ({
        tool_name: 'Bash',
        tool_input: { command: 'make' },
        tool_use_id: `c${call}`,
      })
      let callNumber = 0
      for (const one of acts) {
        if (one.type === 'edit') {
          // While a call runs, all changes are attributed to the agents.
          written += 1
          writeFileSync(join(root, one.file), `${written}\n`)
          for (const who of calls.size === 0 ? ['you'] : calls.keys()) since.add(who)
          if (calls.size === 0) usersContent.set(one.file, `${written}\n`)
        } else if (one.type === 'save') {
          if (calls.size > 0) isClear = false
          await project.save()
          await looked()
        } else if (one.type === 'kill') {
          if (calls.delete(one.agent)) isClear = false
        } else if (one.type === 'turn') {
          if (calls.delete(one.agent)) isClear = false
          await event(one.agent, 'UserPromptSubmit', { prompt: 'go' })
        } else if (one.type === 'call') {
          if (calls.has(one.agent)) continue
          callNumber += 1
          await event(one.agent, 'PreToolUse', tool(callNumber))
          calls.set(one.agent, callNumber)
        } else {
          const call = calls.get(one.agent)
          if (call === undefined) continue
          calls.delete(one.agent)
          await event(one.agent, 'PostToolUse', tool(call))
        }
      }
      for (const [who, call] of calls) await event(who, 'PostToolUse', tool(call))

      const faults: string[] = []
      const checkpoints = await project.list()
      for (const { id, author } of checkpoints) {
        const known = truth.get(id)
        if (known === undefined) continue
        const reported = author?.split('+') ?? []
        const missing = [...known].filter((who) => !reported.includes(who))
        if (missing.length > 0) faults.push(`${author} lacks ${missing.join()}`)
        if (isClear && reported.includes('you') && !known.has('you'))
          faults.push(`${author} is ${[...known].join()}`)
      }
      const contents = () => FILES.map((file) => readFileSync(join(root, file), 'utf8'))
      const now = contents()
      const { plan, applied } = await project.rewind('start', { keepMine: true })
      const kept = [...plan.keep, ...plan.write].map((item) => item.path)
      for (const [n, content] of contents().entries()) {
        const file = FILES[n] ?? ''
        const mine = usersContent.get(file)
        // The agent may have overwritten it since; then it is brought back.
        if (mine !== undefined && !([now[n], mine].includes(content) && kept.includes(file)))
          faults.push(`${file} was the user’s`)
        if (mine === undefined && isClear && content !== 'at first\n')
          faults.push(`${file} was an agent’s`)
      }
      if (applied) await project.undo()
      expect(faults).toEqual([])
      expect(contents()).toEqual(now)
      rmSync(root, { recursive: true })
    }),
    { numRuns: tries(80) },
  )
})
