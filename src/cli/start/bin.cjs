#!/usr/bin/env node
// The first file that runs: checks the version of Node, then loads the program. It uses no syntax that an old Node
// cannot read, and test/cli/start/old-node.test.ts checks that OLDEST is the version in package.json.
'use strict'

var OLDEST = [20, 19]

function isTooOld(version) {
  var parts = version.split('.').map(Number)
  return parts[0] < OLDEST[0] || (parts[0] === OLDEST[0] && parts[1] < OLDEST[1])
}

function refuse() {
  var words = process.argv.slice(2)
  var message =
    'Savestate needs Node ' +
    OLDEST.join('.') +
    ' or newer, and this is Node ' +
    process.versions.node
  var hint =
    'Install a newer Node, or put it first on the PATH. The Node in use: ' + process.execPath
  var error = { code: 'NODE_TOO_OLD', message: message, hint: hint }
  var isJson = words.indexOf('--json') !== -1
  process.stderr.write(
    isJson
      ? JSON.stringify({ error: error }, null, 2) + '\n'
      : 'Error: ' + message + '.\n' + hint + '\n',
  )
  // Agents take exit code 2 of a hook for a refusal of their tool call: a hook lets the agent continue, unless it is strict.
  var isLenient = words.indexOf('hook') !== -1 && words.indexOf('--strict') === -1
  process.exitCode = isLenient ? 0 : 2
}

if (isTooOld(process.versions.node)) refuse()
else require('./cli.js')
