// Finding checkpoints: by words, and by a file that they changed.
import * as z from 'zod/mini'
import { inProject, limit, optional, text } from './inputs.js'
import type { MethodOf } from './method.js'

const MAX_FOUND = 1000
const MAX_COMPARED = 1_000_000

export const history: MethodOf<'history'> = {
  input: z.strictObject({
    ...inProject(),
    path: text(),
    limit: limit(MAX_FOUND),
    before: optional(text()),
  }),
  changes: false,
  run: async ({ project, path, limit: most, ...page }, context) =>
    (await context.project(project)).history([path], { limit: most, ...page }),
}

export const search: MethodOf<'search'> = {
  input: z.strictObject({
    ...inProject(),
    words: text(),
    limit: limit(MAX_FOUND),
    maxCompared: optional(limit(MAX_COMPARED)),
  }),
  changes: false,
  run: async ({ project, words, limit: most, maxCompared }, context) =>
    (await context.project(project)).search(words, {
      limit: most,
      ...(maxCompared === undefined ? {} : { maxCompared }),
    }),
}
