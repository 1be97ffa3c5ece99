// The page over the store of a run: a real browser finds in it what the agent did, takes it back, and undoes that.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Page } from 'playwright-core'
import { axeViolations } from '../../test/support/browser/axe.js'
import { closeBrowser } from '../../test/support/browser/browser.js'
import { openGuarded } from '../../test/support/browser/guarded-page.js'
import { applyPlan, planRows, undoBar } from '../../test/support/browser/restore-dialog.js'
import { startUi } from '../../test/support/browser/ui-server.js'
import { type Case, finish, NOT_HERE, type Scene, START_FILES, turn, withScene } from '../case.js'
import { filesOf } from '../install-folder.js'
import { type ScriptStep, scripted } from '../model-server/script.js'
import { type Checkpoint, checkpoints, connect, PROGRAM } from '../savestate.js'

const GREETING = `export function greet(name: string): string {
  return \`Hello, \${name}!\`
}
`
const FIRST: readonly ScriptStep[] = [
  { write: 'greet.ts', content: GREETING },
  { shell: 'printf "one\\ntwo\\n" > b.txt; seq 1 40' },
  { delete: 'c.txt' },
  { say: 'The greeting is in `greet.ts`.\n\n- b.txt has two lines\n- c.txt is gone' },
]
const SECOND: readonly ScriptStep[] = [
  { shell: 'sed -i s/Hello/Welcome/ greet.ts' },
  { shell: 'cat missing.txt' },
  { say: 'The command failed.' },
]
const NESTED: readonly ScriptStep[] = [
  {
    agent: [
      { write: 's.txt', content: 'mine\n' },
      { agent: [{ shell: 'echo deep > deep.txt' }, { say: 'Deep.' }] },
      { say: 'From inside.' },
    ],
  },
  { say: 'From outside.' },
]
const FIRST_TITLE = 'Write a greeting'
const SECOND_TITLE = 'Make it warmer'
/** It keeps them in a database of its own: docs/guide/coding-agents.md. */
const WITHOUT_CONVERSATION = ['opencode']
const WITH_SUBAGENT_FILES = ['claude', 'codex']
const SCHEMES = ['light', 'dark'] as const
/** A phone, a tablet and a desktop. */
const WIDTHS = [390, 768, 1440] as const

export const PAGE_CASES: readonly Case[] = [
  {
    claim: 'the page shows the run, takes it back as its dialog says, and undoes that',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { sandbox } = scene
        await connect(scene)
        await turn(scene, scripted(FIRST_TITLE, FIRST))
        writeFileSync(join(sandbox.project, 'mine.txt'), 'by hand\n')
        const session = (await checkpoints(sandbox))[0]?.session ?? ''
        await finish(sandbox, scene.here.resume(session, scripted(SECOND_TITLE, SECOND)))
        await walk(scene, await checkpoints(sandbox))
      }),
  },
  {
    claim: 'the page nests what a subagent said, and its own subagent, under their calls',
    prove: (bed) =>
      WITH_SUBAGENT_FILES.includes(bed.agent.name)
        ? withScene(bed, async (scene) => {
            const { sandbox } = scene
            await connect(scene)
            await finish(sandbox, scene.here.askForSubagents(scripted(FIRST_TITLE, NESTED)))
            const session = (await checkpoints(sandbox))[0]?.session ?? ''
            await onPage(scene, async (page, show) => {
              await show(`/s/${encodeURIComponent(session)}`, '[data-item]')
              await walkSubagents({ scene, page })
            })
          })
        : NOT_HERE,
  },
]

/** A page whose views can be shown by their path. */
interface Walk {
  readonly scene: Scene
  readonly page: Page
  readonly all: readonly Checkpoint[]
  readonly show: (path: string, ready: string) => Promise<void>
}

async function walkSubagents({ scene, page }: Pick<Walk, 'scene' | 'page'>): Promise<void> {
  const outer = page.locator('.feed-item > .subagent')
  await outer.getByRole('button', { name: 'subagent' }).click()
  await outer.locator('[data-kind=answer]', { hasText: 'From inside.' }).waitFor()
  await outer.locator('.tool', { hasText: 's.txt' }).first().waitFor()
  // Codex begins its file with the conversation of the parent.
  assert(!(await outer.innerText()).includes(FIRST_TITLE))
  const inner = outer.locator('.subagent')
  await inner.getByRole('button', { name: 'subagent' }).click()
  await inner.locator('.tool', { hasText: 'deep.txt' }).first().waitFor()
  await inner.locator('[data-kind=answer]', { hasText: 'Deep.' }).waitFor()
  await look({ scene, page }, 'subagents')
}

async function walk(scene: Scene, all: readonly Checkpoint[]): Promise<void> {
  await onPage(scene, async (page, show) => {
    const it: Walk = { scene, page, all, show }
    await walkTimeline(it)
    await walkSession(it)
    await walkCheckpoint(it)
    await walkOthers(it)
    await walkRestore(it)
  })
}

async function onPage(
  scene: Scene,
  visit: (page: Page, show: Walk['show']) => Promise<void>,
): Promise<void> {
  const { project, environment } = scene.sandbox
  const server = await startUi({ program: PROGRAM, project, environment })
  try {
    const guarded = await openGuarded(server.url)
    const { page } = guarded
    const show = async (path: string, ready: string) => {
      await page.goto(new URL(path, server.origin).href)
      await page.locator(ready).first().waitFor()
      await look({ scene, page }, path)
    }
    await page.locator('[data-view=timeline][data-state=ready]').waitFor()
    await visit(page, show)
    assert.deepEqual(guarded.takeFaults(), [])
  } finally {
    await closeBrowser()
    await server.stop()
  }
}

async function walkTimeline({ scene, page, all, show }: Walk): Promise<void> {
  await show('/', '[data-view=timeline] [role=row][data-id]')
  for (const { id, reason } of all) {
    const row = page.locator(`[role=row][data-id="${id}"]`)
    const text = await row.innerText()
    const title = [FIRST_TITLE, SECOND_TITLE].find((one) => reason.includes(one))
    const words = title ?? reason.replace(/^[^:]*: /, '').split('\n')[0] ?? ''
    assert(text.includes(words), `${text} is not ${words}`)
    assert(title !== undefined || text.includes(scene.agent.name), text)
  }
}

async function walkSession({ scene, page, all, show }: Walk): Promise<void> {
  const session = all[0]?.session ?? ''
  await show('/sessions', '[data-view=sessions] [data-session]')
  assert.equal(await page.locator('[data-view=sessions] [data-session]').count(), 1)
  const path = `/s/${encodeURIComponent(session)}`
  if (WITHOUT_CONVERSATION.includes(scene.agent.name)) {
    await show(path, '[data-view=session] [data-kind=empty]')
    await page.getByText('No conversation').waitFor()
    return
  }
  await show(path, '[data-item]')
  const view = page.locator('[data-view=session]')
  const turns = [
    [FIRST_TITLE, 'The greeting is in', ['greet.ts', 'seq 1 40', 'c.txt']],
    [SECOND_TITLE, 'The command failed.', ['s/Hello/Welcome/', 'cat missing.txt']],
  ] as const
  for (const [title, answer, calls] of turns) {
    await page.getByRole('navigation', { name: 'Prompts' }).getByText(title).click()
    await view.locator('[data-kind=prompt]', { hasText: title }).first().waitFor()
    for (const words of calls) await view.locator('.tool', { hasText: words }).first().waitFor()
    await view.locator('[data-kind=answer]', { hasText: answer }).first().waitFor()
    await look({ scene, page }, `session ${title}`)
  }
}

async function walkCheckpoint({ page, all, show }: Walk): Promise<void> {
  const written = named(all, 'greet.ts')
  await show(`/c/${written.id}?file=greet.ts`, '[data-line]')
  const view = page.locator('[data-view=checkpoint]')
  await view.locator('[data-kind=added]', { hasText: 'export function greet' }).first().waitFor()
  const since = `/c/${written.id}?tab=since&file=greet.ts`
  await show(since, '[data-view=checkpoint] [data-line]')
  await view.locator('[data-kind=added]', { hasText: 'Welcome' }).first().waitFor()
  await show(`/c/${written.id}?tab=files`, '[role=treeitem]')
  assert.deepEqual(await view.locator('[role=treeitem] .tree-name').allInnerTexts(), [
    'b.txt',
    'c.txt',
    'greet.ts',
    // Named, and not opened.
    '.git',
  ])
  await show(`/c/${written.id}?tab=conversation`, '[data-item], .tab-panel [data-kind=empty]')
  await show(`/c/${written.id}?tab=details`, '.details')
}

async function walkOthers({ page, all, show }: Walk): Promise<void> {
  await show('/files?path=greet.ts', '.version-row')
  assert.equal(await page.locator('.version-row').count(), 2)
  const [first, last] = [all[0], all.at(-1)]
  await show(`/compare?a=${first?.id}&b=${last?.id}`, '[data-view=compare] [data-line]')
  await show('/search?q=greeting', '.search-result')
  await show('/store', '[data-view=store][data-state=ready]')
}

async function walkRestore({ scene, page, all, show }: Walk): Promise<void> {
  const { sandbox } = scene
  const done = filesOf(sandbox)
  await show(`/c/${all[0]?.id}`, '[data-view=checkpoint]')
  await page.keyboard.press('r')
  assert.deepEqual(await planRows(page), [
    { action: 'write', path: 'b.txt', ticked: true },
    { action: 'restore', path: 'c.txt', ticked: true },
    { action: 'remove', path: 'greet.ts', ticked: true },
    { action: 'keep', path: 'mine.txt', ticked: false },
  ])
  await look({ scene, page }, 'restore dialog')
  await applyPlan(page)
  assert.deepEqual(filesOf(sandbox), { ...START_FILES, 'mine.txt': 'by hand\n' })
  await look({ scene, page }, 'restored')
  await undoBar(page).getByRole('button', { name: 'Undo' }).click()
  await applyPlan(page)
  assert.deepEqual(filesOf(sandbox), done)
}

function named(all: readonly Checkpoint[], words: string): Checkpoint {
  const found = all.find(({ reason }) => reason.includes(words) && !reason.startsWith('You: '))
  assert(found !== undefined, all.map(({ reason }) => reason).join('\n'))
  return found
}

/** Checks the view in both schemes, and saves pictures of it in three widths in the folder that SAVESTATE_SCREENSHOTS names. */
async function look({ scene, page }: Pick<Walk, 'scene' | 'page'>, name: string): Promise<void> {
  const folder = process.env['SAVESTATE_SCREENSHOTS']
  const file = `${scene.agent.name}-${name.replaceAll(/\W+/g, '-')}`
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme })
    assert.deepEqual(await axeViolations(page), [], name)
    if (folder === undefined) continue
    const size = page.viewportSize() ?? { width: 1280, height: 800 }
    for (const width of WIDTHS) {
      await page.setViewportSize({ ...size, width })
      await page.screenshot({ path: join(folder, `${file}-${colorScheme}-${width}.png`) })
    }
    await page.setViewportSize(size)
  }
}
