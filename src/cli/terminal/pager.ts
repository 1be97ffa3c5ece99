// Long answers go through the pager the person is used to.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hasCode } from '../../base/index.js'
import type { Screen } from './screen.js'

const NOT_FOUND = 127

/** Shows the text in the pager, or plainly if there is none. */
export async function page(text: string, screen: Screen): Promise<void> {
  const chosen = chosenPager(process.env)
  if (chosen === '' || chosen === 'cat' || !(await showIn(chosen, text))) screen.print(text)
}

/** What the person chose; undefined if they chose nothing. */
export function chosenPager(environment: NodeJS.ProcessEnv): string | undefined {
  const { SAVESTATE_PAGER, GIT_PAGER, PAGER } = environment
  return (SAVESTATE_PAGER ?? GIT_PAGER ?? PAGER)?.trim()
}

/** False if there is no such program. */
async function showIn(pager: string | undefined, text: string): Promise<boolean> {
  // A chosen pager is a piece of shell, as for git. `less` is started directly, so that no shell
  // complains where it is not installed.
  const child = spawn(pager ?? 'less', {
    shell: pager !== undefined,
    stdio: ['pipe', 'inherit', 'inherit'],
    // As git does: leave at once if it fits, show colours, do not clear the screen.
    env: { LESS: 'FRX', LV: '-c', ...process.env },
  })
  // Ctrl-C belongs to the pager while it is there.
  const ignore = () => undefined
  const interrupts = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT').on('SIGINT', ignore)
  try {
    // Who quits the pager early has seen enough.
    child.stdin.on('error', (error) => {
      if (!hasCode(error, 'EPIPE')) throw error
    })
    child.stdin.end(text)
    const [code] = await once(child, 'close')
    return code !== NOT_FOUND
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  } finally {
    process.off('SIGINT', ignore)
    for (const interrupt of interrupts) process.on('SIGINT', interrupt)
  }
}
