// What a command says that has left its work to the daemon and does not hear the end of it.
import { hasCode } from '../base/index.js'
import { EXIT, report, reportUnwritten } from './exit.js'
import { exitCodeOf } from './hook-exit.js'
import { parse } from './parse.js'
import { openScreen } from './screen.js'

type How = { readonly isJson: boolean }

/** The connection broke, or nothing is heard of it. */
export async function reportLost({ isJson }: How): Promise<number> {
  const { SavestateError } = await import('../index.js')
  const error = new SavestateError(
    'DAEMON_LOST',
    'The daemon stopped answering while it was running this command',
    { hint: '`savestate list` shows what was done.' },
  )
  return report(error, { screen: openScreen(process), isJson })
}

/** The person does not wait. */
export function reportLeft(signal: 'SIGINT' | 'SIGTERM', { isJson }: How): void {
  const message = 'Interrupted, but the daemon continues this command'
  const hint = '`savestate list` shows what was done.'
  const { paintNote } = openScreen(process)
  if (process.stderr.isTTY) process.stderr.write('\n')
  const error = { code: 'INTERRUPTED', message, hint }
  process.stderr.write(
    isJson
      ? `${JSON.stringify({ error }, null, 2)}\n`
      : `${paintNote('red', 'Error: ')}${message}.\n${hint}\n`,
  )
  process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.ended)
}

/** The answer cannot be written, unless its reader has just seen enough. */
export async function reportOutput(error: unknown, { isJson }: How): Promise<void> {
  if (hasCode(error, 'EPIPE')) return
  // That this cannot be told either changes nothing: it is told only here.
  process.stderr.on('error', () => undefined)
  const parsed = parse(process.argv.slice(2))
  const exitCode = (code: number) => exitCodeOf(parsed, code)
  await reportUnwritten(error, { screen: openScreen(process), isJson, exitCode })
}
