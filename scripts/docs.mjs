// Generates docs/reference/errors.md from the table of error codes, docs/reference/cli.md from the table of commands, and docs/reference/sdk.md from
// the type declarations in the build. `--print` writes the first to stdout instead and `--print-sdk` the last, so that
// test/repository/docs.test.ts can check whether they are stale.
import { mkdirSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { cliReference } from '../build/docs/reference.js'
import { ERROR_CODES } from '../dist/index.js'
import { sdkReference } from './sdk-reference.mjs'

const rows = Object.entries(ERROR_CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)

const page = `# Error codes

<!-- Made by scripts/docs.mjs from src/model/errors.ts. Do not edit. -->

A failed operation throws a \`SavestateError\` with a \`code\`, a \`message\` and a \`hint\`. On the
command line the message and the hint go to stderr; with \`--json\` they are
\`{"error":{"code","message","hint"}}\` there. A code is permanent: scripts may match on it. Messages and hints may
improve.

| code | meaning |
|---|---|
${rows.join('\n')}

Exit codes of the command line: 0 done, 1 the user said no, 2 one of the errors above, 130 or 143 interrupted
(\`INTERRUPTED\`), 70 a bug in Savestate, which has the code \`INTERNAL\` in JSON.
`

if (process.argv.includes('--print')) process.stdout.write(page)
else if (process.argv.includes('--print-sdk')) process.stdout.write(sdkReference())
else {
  writeFileSync(new URL('../docs/reference/errors.md', import.meta.url), page)
  writeFileSync(new URL('../docs/reference/cli.md', import.meta.url), cliReference())
  mkdirSync(new URL('../docs/reference', import.meta.url), { recursive: true })
  writeFileSync(new URL('../docs/reference/sdk.md', import.meta.url), sdkReference())
}
