// Reads the JSON of a request, up to a limit.
import type { IncomingMessage } from 'node:http'
import { SavestateError } from '../../internal.js'

/** `apply` may select 100,000 paths. */
const MAX_BYTES = 16 << 20

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** Throws BodyTooLarge, and BAD_INPUT if it is not JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SavestateError('BAD_INPUT', 'The body is not JSON', { cause: error })
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const tooLarge = new BodyTooLarge(`The body has more than ${MAX_BYTES} bytes`)
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) throw tooLarge
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const part of request) {
      const bytes = Buffer.from(part)
      size += bytes.length
      if (size > MAX_BYTES) throw tooLarge
      parts.push(bytes)
    }
  } catch (error) {
    if (error === tooLarge || request.complete) throw error
    // The client left, or was too slow.
    throw new SavestateError('BAD_INPUT', 'The body did not arrive', { cause: error })
  }
  return Buffer.concat(parts).toString('utf8')
}
