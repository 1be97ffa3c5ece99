// Reads the JSON of a request, up to a limit.
import type { IncomingMessage } from 'node:http'
import { readBody } from '../../daemon/index.js'
import { SavestateError } from '../../internal.js'

/** `apply` may select 100,000 paths. */
const MAX_BYTES = 16 << 20

/** Throws BodyTooLarge, and BAD_INPUT if it is not JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request, MAX_BYTES)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SavestateError('BAD_INPUT', 'The body is not JSON', { cause: error })
  }
}
