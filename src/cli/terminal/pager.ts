// Shows long text in the user's pager.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hasCode } from '../../base/index.js'
import { ignoreInterrupts } from '../runtime/exit.js'
import type { Screen } from './screen.js'

const NOT_FOUND = 127

/** Prints the text if there is no pager. */
export async function page(text: string, screen: Screen): Promise<void> {
  const chosen = pagerFrom(process.env)
  if (chosen === '' || chosen === 'cat' || !(await showIn(chosen, text))) screen.print(text)
}

/** The user's choice; undefined for the default. */
export function pagerFrom(environment: NodeJS.ProcessEnv): string | undefined {
  const { SAVESTATE_PAGER, GIT_PAGER, PAGER } = environment
  return (SAVESTATE_PAGER ?? GIT_PAGER ?? PAGER)?.trim()
}

/** False if there is no such program. */
async function showIn(pager: string | undefined, text: string): Promise<boolean> {
  // A chosen pager is a shell command, as for git. `less` is started directly, so that no shell complains if it is
  // missing.
  const child = spawn(pager ?? 'less', {
    shell: pager !== undefined,
    stdio: ['pipe', 'inherit', 'inherit'],
    // As in git: quit if one screen is enough, show colors, do not clear the screen.
    env: { LESS: 'FRX', LV: '-c', ...process.env },
  })
  // EPIPE: the user quit the pager early.
  child.stdin.on('error', (error) => {
    if (!hasCode(error, 'EPIPE')) throw error
  })
  child.stdin.end(text)
  try {
    const [code] = await ignoreInterrupts(() => once(child, 'close'))
    return code !== NOT_FOUND
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
