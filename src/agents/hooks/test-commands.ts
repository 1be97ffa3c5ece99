// Which shell commands run tests, so that their exit status says whether the project works. The status of a line is that of its tests only
// if nothing else decides it: `npm test | tail` and `npm test || true` say nothing.
import { fieldsOf } from '../../base/index.js'
import type { Tool } from '../mappers/event.js'

export type TestResult = 'passed' | 'failed'

/** Matched at the start of a command, after its wrappers. */
const TEST_COMMANDS: readonly RegExp[] = [
  /(?:npm|pnpm|yarn|bun)(?: run)? (?:t|tst|test|tests|check)(?:[:.-]\S+)?(?: |$)/,
  /(?:vitest|jest|mocha|ava|tap|jasmine|tsd)(?: |$)/,
  /(?:playwright test|cypress run|karma start|ng test|deno test|node --test)(?: |$)/,
  /(?:pytest|py\.test|tox|nox|nose2|behave)(?: |$)/,
  /(?:python[\d.]*|pypy3?) (?:-m (?:pytest|unittest|tox|nox)|manage\.py test)(?: |$)/,
  /cargo (?:\+\S+ )?(?:test|nextest run|t)(?: |$)/,
  /(?:go|swift|dart|flutter|zig|mix|dotnet|stack|cabal|sbt|lein|bazel|meson|crystal|forge) test(?: |$)/,
  /zig build test(?: |$)/,
  /(?:make|gmake|just|task|rake|composer|rails|php artisan)(?: -\S+)* (?:test|tests|check|spec)(?:[:.-]\S+)?(?: |$)/,
  /(?:mvn|\.\/mvnw)(?: -\S+)*(?: clean)? (?:test|verify)(?: |$)/,
  /(?:gradle|\.\/gradlew)(?: -\S+)* (?:test|check)(?: |$)/,
  /(?:rspec|phpunit|pest|ctest|busted|bats|prove)(?: |$)/,
]

/** Programs that run the rest of their arguments, with their own options. */
const WRAPPERS =
  /^(?:\w+=\S* |(?:npx|bunx|uvx)(?: -\S+)* |(?:pnpm|yarn|bundle|npm|pdm|pipenv|poetry|uv|rye|hatch)(?: exec| run| dlx)(?: -\S+)* |(?:env|time|nice|command|exec) |timeout(?: -\S+)* \S+ |(?:\.\/)?(?:node_modules|vendor|\.venv|venv)\/(?:\.?bin\/)|\.\/(?=vendor|node_modules))/

/** The result of the tests that a call ran; undefined if it ran none, or the agent does not report the exit status. */
export function testResultOf({ input, exitStatus }: Tool): TestResult | undefined {
  if (exitStatus === undefined || !runsTests(commandOf(input))) return undefined
  return exitStatus === 0 ? 'passed' : 'failed'
}

export function runsTests(line: string): boolean {
  const text = line.trim().replace(/\s*\d?>&\d/g, '')
  // Quotes may hide operators, and a shell knows more of them than this does.
  if (/[|`]|\$\(|(?<!&)&(?!&)/.test(text)) return false
  const [last = ''] = text.split(/;|\n/).slice(-1)
  return last.split('&&').some((command) => isTest(command))
}

function isTest(command: string): boolean {
  let rest = command.trim().replace(/\s+/g, ' ')
  for (;;) {
    const start = rest
    if (TEST_COMMANDS.some((test) => rest.search(test) === 0)) return true
    rest = rest.replace(WRAPPERS, '')
    if (rest === start) return false
  }
}

/** The line, also from words such as `bash -lc LINE`. */
function commandOf(input: unknown): string {
  const { command, commands } = fieldsOf(input)
  const given = command ?? commands
  if (typeof given === 'string') return given
  if (!Array.isArray(given)) return ''
  const words = given.filter((word) => typeof word === 'string')
  const isShell = /^-\w*c$/.test(words.at(-2) ?? '')
  return isShell ? (words.at(-1) ?? '') : words.join(' ')
}
