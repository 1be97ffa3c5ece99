// One Chromium per process: test files of a worker share it, each with contexts of its own.
import process from 'node:process'
import { type Browser, chromium } from 'playwright-core'
import { findChromium } from './chromium.js'

const ARGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let started: Promise<Browser> | undefined

/** Starts it on first use. It ends with this process, which holds its pipe. */
export function browser(): Promise<Browser> {
  started ??= launch()
  return started
}

/** For a process that would wait for it otherwise. */
export async function closeBrowser(): Promise<void> {
  const running = await started
  started = undefined
  await running?.close()
}

async function launch(): Promise<Browser> {
  const { path, environment } = await findChromium()
  return chromium.launch({
    executablePath: path,
    args: ARGS,
    env: { ...process.env, ...environment },
  })
}
