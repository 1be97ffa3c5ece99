// The browser that the other tests of this folder use, and that their page reports what it must never do.
import { createServer } from 'node:http'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { axeViolations } from '../support/browser/axe.js'
import { findChromium } from '../support/browser/chromium.js'
import { openGuarded } from '../support/browser/guarded-page.js'

test('SAVESTATE_BROWSER comes first, then a browser on the PATH, then a message', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-browser-'))
  const machine = { platform: 'darwin', arch: 'arm64' }
  try {
    expect(await findChromium({ ...machine, env: { SAVESTATE_BROWSER: '/my/chrome' } })).toEqual({
      path: '/my/chrome',
      environment: {},
    })
    const found = findChromium({ ...machine, env: { PATH: folder } })
    await expect(found).rejects.toThrow(/^No Chromium found\. .*SAVESTATE_BROWSER/)
    const path = join(folder, 'google-chrome')
    writeFileSync(path, '')
    chmodSync(path, 0o755)
    expect(await findChromium({ ...machine, env: { PATH: `/nonexistent:${folder}` } })).toEqual({
      path,
      environment: {},
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('requests to other origins, violations of the policy, and errors are faults; axe runs', async () => {
  await using server = await serve(`<!doctype html><html lang="en"><title>Faulty</title>
    <main><h1>Faulty</h1><img src="/a.png"></main>`)
  await using guarded = await openGuarded(server.url)
  const { page } = guarded
  expect(guarded.takeFaults()).toEqual([])
  expect(await axeViolations(page)).toEqual([expect.stringMatching(/^image-alt \| img \| /)])
  expect(guarded.takeFaults()).toEqual([])
  await page.evaluate("fetch('http://127.0.0.1:9/').catch(() => undefined)")
  expect(guarded.takeFaults().join('\n')).toContain(
    'violates the following Content Security Policy',
  )
  await page.evaluate("try { document.body.innerHTML = '<b>x</b>' } catch {}")
  expect(guarded.takeFaults()).toEqual([expect.stringContaining("requires 'TrustedHTML'")])
  await page.evaluate("setTimeout(() => { throw new Error('thrown later') })")
  await expect.poll(() => guarded.takeFaults()).toEqual(['uncaught: thrown later'])
  await page.evaluate("location.href = 'http://localhost:9/'")
  await expect.poll(() => guarded.takeFaults()[0]).toBe('request to http://localhost:9/')
})

async function serve(html: string): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, answer) => {
    const policy =
      "default-src 'none'; img-src 'self'; connect-src 'self'; require-trusted-types-for 'script'"
    answer.setHeader('Content-Security-Policy', policy).setHeader('Content-Type', 'text/html')
    answer.end(html)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
