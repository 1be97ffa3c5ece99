// The history of paths: the list of checkpoints, limited to those that changed one of them.
import type { Command } from '../runtime/command.js'
import { run as list } from './list.js'

export const run: Command = (request) =>
  list({ ...request, paths: [...request.positionals, ...request.paths] })
