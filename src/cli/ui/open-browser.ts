// Opens the address of the page in the user's browser.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { browserFolder } from './browser-folder.js'

/** Some programs that open addresses stay as long as the browser does. */
const PATIENCE_MS = 3000

export type OpenedBrowser = {
  /** False if no browser could be opened. */
  readonly isOpened: Promise<boolean>
  /** Removes the file once the page has loaded. */
  remove(): void
}

/**
 * The browser gets the path of a file that redirects to the address. Everyone on the machine can read command lines, and the
 * address contains the token; only this user can read the file.
 */
export function openBrowser(url: string): OpenedBrowser {
  let folder: string | undefined
  let isRemoved = false
  const remove = () => {
    isRemoved = true
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  const start = async (): Promise<boolean> => {
    const place = await browserFolder()
    // The page was opened by hand, or the command has ended.
    if (isRemoved) return true
    folder = mkdtempSync(join(place, 'savestate-ui-'))
    const file = join(folder, 'open.html')
    writeFileSync(file, redirectTo(url), { mode: 0o600 })
    return startBrowser(file)
  }
  return { isOpened: start(), remove }
}

async function startBrowser(file: string): Promise<boolean> {
  const words = openCommand(file)
  if (words === undefined) return false
  const [program, ...args] = words
  const child = spawn(program, args, { detached: true, stdio: 'ignore' })
  child.unref()
  const ended = once(child, 'exit').then(
    ([code]) => code === 0,
    // The program does not exist.
    () => false,
  )
  return Promise.race([ended, sleep(PATIENCE_MS, true, { ref: false })])
}

/** Undefined without a screen: there, xdg-open would start a browser in the terminal. */
function openCommand(file: string): readonly [string, ...string[]] | undefined {
  if (process.platform === 'darwin') return ['open', file]
  if (process.platform === 'win32') return ['cmd', '/c', 'start', '', file]
  const { DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME } = process.env
  const hasScreen = [DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME].some((name) => (name ?? '') !== '')
  return hasScreen ? ['xdg-open', file] : undefined
}

function redirectTo(url: string): string {
  return `<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${url}">
<title>Savestate</title>
<p><a href="${url}">Open the page</a></p>
`
}
