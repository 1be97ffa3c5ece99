// The schemas that several methods share. JSON has no undefined, so an optional field is either there or not.
import * as z from 'zod/mini'

const MAX_TEXT = 10_000
const MAX_PATHS = 100_000

export const text = () => z.string().check(z.minLength(1), z.maxLength(MAX_TEXT))
export const limit = (max: number) => z.int().check(z.positive(), z.maximum(max))
export const index = () => z.int().check(z.minimum(0))
export const paths = () => z.array(text()).check(z.maxLength(MAX_PATHS))
export const optional = z.exactOptional

/** Changes of files that were chosen one by one, as `project.rewind` takes them. */
export const hunkChoices = () =>
  z
    .array(
      z.strictObject({
        path: text(),
        mark: text(),
        context: optional(index()),
        hunks: z.union([
          z.literal('all'),
          z.array(z.union([index(), z.strictObject({ hunk: index(), lines: z.array(index()) })])),
        ]),
      }),
    )
    .check(z.minLength(1), z.maxLength(MAX_PATHS))

export const inProject = () => ({ project: text() })
export const atCheckpoint = () => ({ ...inProject(), ref: text() })

/** Which two versions to compare, with the fields of `more` beside it. */
export function range<More extends z.core.$ZodLooseShape>(more: More) {
  const common = { ...atCheckpoint(), ...more }
  return z.discriminatedUnion('with', [
    z.strictObject({ ...common, with: z.literal('previous') }),
    z.strictObject({ ...common, with: z.literal('now') }),
    z.strictObject({ ...common, with: z.literal('checkpoint'), to: text() }),
  ])
}
