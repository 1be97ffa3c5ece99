/** Runs git with the configuration of the repository only. */
import { devNull } from 'node:os'
import { run } from '../programs.js'

const GIT_ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
  LC_ALL: 'C',
}

export interface GitCall {
  readonly cwd: string
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string
}

/** One git command; resolves to its output without the last line break. */
export async function git(args: readonly string[], call: GitCall): Promise<string> {
  const environment = { ...GIT_ENVIRONMENT, ...call.environment }
  const text = await run({ ...call, program: 'git', args, environment })
  return text.endsWith('\n') ? text.slice(0, -1) : text
}
