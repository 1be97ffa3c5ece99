// A hostile page on another port of the same machine, in the browser in which the user has the page open.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { PROGRAM, scratch } from '../../cli/program.js'
import { claudePrompt, rowsOf } from '../../support/agent-story.js'
import { openGuarded } from '../../support/browser/guarded-page.js'
import { startUi } from '../../support/browser/ui-server.js'
import { ready } from '../../support/browser/use-ui.js'

test('a page on another port reads nothing and changes nothing', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  claudePrompt(s, 'A private prompt')
  s.write({ 'a.txt': 'two\n' })
  const before = rowsOf(s)
  const { project, environment } = s
  await using server = await startUi({ program: PROGRAM, project, environment })
  await using guarded = await openGuarded(server.url)
  await ready(guarded.page)
  await guarded.page.locator('[data-live=on]').waitFor()
  await using hostile = await serveHostile()
  const page = await guarded.context.newPage()
  const answers: string[] = []
  page.on('response', (response) => {
    const { origin, pathname } = new URL(response.url())
    if (origin === server.origin)
      answers.push(`${response.request().method()} ${pathname} ${response.status()}`)
  })
  await page.goto(hostile.url)

  const { origin } = server
  const api = `${origin}/api/start`
  const json = { 'Content-Type': 'application/json', Authorization: `Bearer ${'A'.repeat(43)}` }
  expect(await ask(page, api, { method: 'POST', headers: json, body: '{}' })).toBe('TypeError')
  expect(await ask(page, api, { method: 'POST', body: '{}' })).toBe('TypeError')
  const opaque = { mode: 'no-cors', method: 'POST', body: '{}', credentials: 'include' }
  expect(await ask(page, api, opaque)).toBe('TypeError')
  expect(await ask(page, `${origin}/`, {})).toBe('TypeError')
  expect(await ask(page, `${origin}/`, { mode: 'no-cors' })).toBe('TypeError')
  expect(await ask(page, `${origin}/api/events`, {})).toBe('TypeError')

  const asset = readFileSync(join(PROGRAM, '../../ui/index.html'), 'utf8').match(
    /\/assets\/[\w-]+\.js/,
  )?.[0]
  expect(await loaded(page, 'script', `${origin}${asset}`)).toBe('error')
  expect(await loaded(page, 'img', `${origin}/icon.svg`)).toBe('error')

  // The browser shows its own error in the frame.
  await page.evaluate(`new Promise((resolve) => {
    const frame = document.createElement('iframe')
    frame.name = 'inside'
    frame.src = ${JSON.stringify(`${origin}/`)}
    frame.onload = resolve
    document.body.append(frame)
  })`)
  expect(page.frame('inside')?.url()).toBe('chrome-error://chromewebdata/')

  const input = JSON.stringify({ project, kind: 'rewind', ref: before[0]?.id })
  for (const method of ['plan', 'apply']) {
    const answered = page.waitForResponse(`${origin}/api/${method}`)
    await page.evaluate(`(() => {
      const form = document.createElement('form')
      Object.assign(form, { method: 'POST', enctype: 'text/plain', target: 'inside' })
      form.action = ${JSON.stringify(`${origin}/api/${method}`)}
      const field = form.appendChild(document.createElement('input'))
      field.name = ${JSON.stringify(`${input.slice(0, -1)},"x":"`)}
      field.value = '"}'
      document.body.append(form)
      form.submit()
    })()`)
    expect((await answered).status()).toBe(403)
  }

  const opening = page.waitForEvent('popup')
  await page.evaluate(`{ globalThis.opened = open(${JSON.stringify(`${origin}/`)}) }`)
  const popup = await opening
  // The tab has no key, and the page that opened it has lost it.
  await popup.locator('[data-bar=token]').getByText('opened without its key').waitFor()
  expect(await popup.evaluate('[globalThis.opener, sessionStorage.length]')).toEqual([null, 0])
  expect(await page.evaluate('globalThis.opened.closed')).toBe(true)
  await popup.close()

  expect(new Set(answers.filter((one) => one.includes('/api/')))).toEqual(
    new Set(['POST /api/plan 403', 'POST /api/apply 403']),
  )
  expect(hostile.received).toEqual(['GET /'])
  expect(rowsOf(s)).toEqual(before)
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  // The user's own tab continues.
  claudePrompt(s, 'The next prompt')
  await guarded.page.getByText('The next prompt').first().waitFor()
})

/** The text of the answer, or the name of the error. */
function ask(page: Page, url: string, options: Readonly<Record<string, unknown>>): Promise<string> {
  return page.evaluate<string>(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then(
      async (answer) => answer.type + ' ' + answer.status + ' ' + (await answer.text()),
      (error) => error.name)`,
  )
}

/** Whether the element could load the address. */
function loaded(page: Page, element: 'script' | 'img', url: string): Promise<string> {
  return page.evaluate<string>(`new Promise((resolve) => {
    const one = document.createElement('${element}')
    one.onload = one.onerror = ({ type }) => resolve(type)
    one.src = ${JSON.stringify(url)}
    document.body.append(one)
  })`)
}

async function serveHostile() {
  const received: string[] = []
  const server = createServer(({ method, url }, answer) => {
    received.push(`${method} ${url}`)
    answer.setHeader('Content-Type', 'text/html')
    answer.end('<!doctype html><title>Hostile</title><link rel="icon" href="data:,"><body>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
