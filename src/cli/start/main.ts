// Parses the arguments, loads the code of one command, runs it and sets the exit code.
import type { Command } from '../runtime/command.js'
import { enterFolder } from './current-folder.js'
import { EXIT, exitOnSignals, report, reportAndExit, reportUnwritten } from '../runtime/exit.js'
import { exitCodeOf } from '../hook/hook-exit-code.js'
import { ownTerminal } from '../terminal/stdio.js'
import { type Parsed, parse } from '../args/parse.js'
import { progressBar } from '../terminal/progress-bar.js'
import { rawArguments } from '../args/argv-bytes.js'
import { agentMark, openRequest, type Surroundings } from '../runtime/request.js'
import { openScreen } from '../terminal/screen.js'
import { type CommandName, usageOf } from '../args/commands-table.js'

const LOAD: Readonly<Record<CommandName | 'overview', () => Promise<{ run: Command }>>> = {
  save: () => import('../commands/save.js'),
  list: () => import('../commands/list.js'),
  show: () => import('../commands/show.js'),
  cat: () => import('../commands/cat.js'),
  blame: () => import('../commands/blame.js'),
  log: () => import('../commands/log.js'),
  diff: () => import('../commands/diff.js'),
  commits: () => import('../commands/commits.js'),
  notes: () => import('../commands/notes.js'),
  search: () => import('../commands/search.js'),
  rewind: () => import('../commands/rewind.js'),
  undo: () => import('../commands/undo.js'),
  redo: () => import('../commands/undo.js'),
  ui: () => import('../commands/ui.js'),
  open: () => import('../commands/open.js'),
  compare: () => import('../commands/compare.js'),
  adopt: () => import('../commands/adopt.js'),
  bisect: () => import('../commands/bisect.js'),
  sessions: () => import('../commands/sessions.js'),
  resume: () => import('../commands/resume.js'),
  fork: () => import('../commands/fork.js'),
  export: () => import('../commands/export.js'),
  import: () => import('../commands/import.js'),
  install: () => import('../commands/install.js'),
  uninstall: () => import('../commands/install.js'),
  hook: () => import('../commands/hook.js'),
  mcp: () => import('../commands/mcp.js'),
  remote: () => import('../commands/remote.js'),
  push: () => import('../commands/push.js'),
  pull: () => import('../commands/pull.js'),
  handoff: () => import('../commands/handoff.js'),
  pin: () => import('../commands/pin.js'),
  unpin: () => import('../commands/pin.js'),
  name: () => import('../commands/name.js'),
  status: () => import('../commands/status.js'),
  config: () => import('../commands/config.js'),
  move: () => import('../commands/move.js'),
  prune: () => import('../commands/prune.js'),
  drop: () => import('../commands/drop.js'),
  forget: () => import('../commands/forget.js'),
  clear: () => import('../commands/clear.js'),
  'clear-legacy': () => import('../commands/clear-legacy.js'),
  verify: () => import('../commands/verify.js'),
  repair: () => import('../commands/repair.js'),
  doctor: () => import('../commands/doctor.js'),
  rekey: () => import('../commands/rekey.js'),
  watch: () => import('../commands/watch.js'),
  run: () => import('../commands/run.js'),
  daemon: () => import('../commands/daemon.js'),
  completion: () => import('../commands/completion.js'),
  help: () => import('../commands/help.js'),
  overview: () => import('../commands/overview.js'),
}

export async function main(): Promise<void> {
  const argv = rawArguments()
  const [first, ...others] = argv
  if (first === '__complete') {
    const { printCandidates } = await import('../args/complete.js')
    await printCandidates(others)
    return
  }
  const parsed = parse(argv)
  const isJson = parsed.options.has('json')
  const terminal = ownTerminal((error) => void reportUnwritten(error, reporter))
  const [screen, bar] = [openScreen(terminal), progressBar(terminal)]
  const exitCode = (code: number) => exitCodeOf(parsed, code)
  const reporter = { screen, isJson, exitCode }
  process.on('uncaughtException', (error) => void reportAndExit(error, reporter))
  exitOnSignals(reporter, () => bar.erase())
  const around = { screen, bar, folder: enterFolder(parsed.options), agent: agentMark(process.env) }
  const code = await runCommand(parsed, around).catch((error: unknown) => report(error, reporter))
  process.exitCode = await exitCode(code)
}

/** Reports that the output could not be written. */
export async function reportOutput(error: unknown): Promise<void> {
  // Ignore a failure to write this report.
  process.stderr.on('error', () => undefined)
  const parsed = parse(process.argv.slice(2))
  const exitCode = (code: number) => exitCodeOf(parsed, code)
  const isJson = parsed.options.has('json')
  await reportUnwritten(error, { screen: openScreen(process), isJson, exitCode })
}

async function runCommand(parsed: Parsed, around: Surroundings): Promise<number> {
  const { command, options, fault } = parsed
  const { screen, bar } = around
  if (options.has('help') && (command !== undefined || fault === undefined)) {
    const { helpText } = await import('../args/help.js')
    screen.print(helpText(command, screen))
    return EXIT.done
  }
  if (fault !== undefined) {
    const { SavestateError } = await import('../../index.js')
    const more = command === undefined ? '`savestate help` lists the commands.' : ''
    throw new SavestateError('BAD_INPUT', fault, {
      hint: [`Usage: ${usageOf(command)}`, more].filter((line) => line !== '').join('\n'),
    })
  }
  const request = openRequest(parsed, around)
  try {
    if (around.agent !== undefined) {
      const { refuseAgent } = await import('../hook/refuse-agent.js')
      await refuseAgent(request, around.agent)
    }
    const { run } = await LOAD[command ?? 'overview']()
    return await run(request)
  } finally {
    bar.erase()
    await request.close()
  }
}
