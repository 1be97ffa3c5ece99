// Checks comments, documents and messages for marks of the private dialect that this codebase once had. Write instead:
// subject, verb, object; name the actor; use the words of git, POSIX and SQLite.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Each mark with a sentence that has it, so that no pattern can stop matching unnoticed. */
const MARKS: readonly (readonly [RegExp, string])[] = [
  [
    /(?:^|[.!;:] )(?:Who|Whoever|Whom|Whatever|Of|Nor|That which|What) (?![^.]*\?)/,
    'Who has one is not served.',
  ],
  [/\b(?:for|by|to|of|with|from) who\b|\b(?:to|of) whom\b/, 'It is kept for who relies on it.'],
  [
    /\b(?:is|are|was|were|be|been) told\b|\btold (?:by|of)\b|\btells? of\b/,
    'The fault is told by the caller.',
  ],
  [/\blook(?:s|ed)? at\b|\ba look\b|\blooks\b/, 'Each path is looked at once.'],
  [/\banew\b/, 'The index is made anew.'],
  [
    /\bstands? (?:in|at|before|beside|there|where|alone|for itself)\b|\bin the place of\b|\bin its place\b/,
    'What is there stands in its place.',
  ],
  [/\b(?:nobody|somebody)\b/i, 'Somebody has changed it.'],
  [/\bthe person\b|\bpersons\b/, 'Only the person may do that.'],
  [/\bsettle[sd]?\b/, 'A stamp that is settled.'],
  [/\bbeliefs?\b|\bbelieved\b/, 'The beliefs of a session.'],
  [/\b(?:rooms?|faces?)\b(?! (?:for|up|with|value))/, 'The room that joins the two.'],
  [
    /\bupkeep\b|\bcensus\b|\bmend(?:s|ed|ing)?\b|\bput(?:s|ting)? right\b/,
    'What was put right by hand.',
  ],
  [/\btalks?\b/, 'The talk of an agent.'],
  [/\bat ease\b|\bin vain\b/, 'A transaction at ease.'],
  [/\bthat there is (?:not|no)\b/, 'A session that there is not.'],
  [/\ball the same\b/, 'It counts all the same.'],
  [/\bgo(?:es)? on\b|\bgone on\b/, 'The work goes on.'],
  [/\bhand(?:s|ed)? over\b/, 'The state is handed over.'],
  [
    /\bheed(?:s|ed|less)?\b|\bwhoever\b|\bof such\b|\bfor good\b|\bspeaks? of\b/,
    'It speaks of such things.',
  ],
]

/** Generated from texts that are checked where they are written, or names that are part of a format. */
const EXEMPT =
  /^(?:package-lock\.json|test\/repository\/language\.test\.ts|docs\/reference\/)|fixtures\//

test('each mark matches its sentence', () => {
  expect(MARKS.filter(([mark, sentence]) => !mark.test(sentence))).toEqual([])
})

test('comments, documents and messages are in plain English', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => /\.(?:ts|mjs|cjs|md)$/.test(path) && !EXEMPT.test(path))
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((path) =>
    textsOf(path).flatMap((text) =>
      MARKS.some(([mark]) => mark.test(text)) ? [`${path}: ${text}`] : [],
    ),
  )
  expect(found).toEqual([])
})

/** Lines of a document without headings; comments and longer strings of a source file. */
function textsOf(path: string): string[] {
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n')
  if (path.endsWith('.md')) return lines.filter((line) => !line.startsWith('#'))
  return lines.flatMap((line) => {
    const comment = /^\s*(?:\/\/|\/\*\*|\*)\s?(.*)$/.exec(line)?.[1]
    return comment ?? /['"`]([^'"`]{25,})['"`]/.exec(line)?.[1] ?? []
  })
}
