// Finding checkpoints: by words, and by a file that they changed.
import * as z from 'zod/mini'
import { maskSecrets } from '../../base/index.js'
import { inProject, limit, optional, text } from './inputs.js'
import type { MethodOf } from './method.js'

const MAX_FOUND = 1000

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
  input: z.strictObject({ ...inProject(), words: text(), limit: limit(MAX_FOUND) }),
  changes: false,
  async run({ project, words, limit: most }, context) {
    const found = await (await context.project(project)).search(words, { limit: most })
    // The page masks secrets in conversations too.
    const hits = found.hits.map((hit) => ({ ...hit, text: maskSecrets(hit.text).text }))
    return { ...found, hits }
  },
}
