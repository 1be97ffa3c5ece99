// What comes in on the pipe, line by line. A line is held in memory until it is whole, so its length is bounded.

const NEWLINE = 0x0a

/** Undefined stands for a line that was too long; it has been passed over. */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  { maxBytes }: { readonly maxBytes: number },
): AsyncGenerator<string | undefined> {
  let parts: Uint8Array[] = []
  let length = 0
  const add = (part: Uint8Array) => {
    length += part.length
    if (length > maxBytes) parts = []
    else parts.push(part)
  }
  const take = () => {
    const line = length > maxBytes ? undefined : Buffer.concat(parts).toString('utf8')
    parts = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end))
      from = end + 1
      yield take()
    }
    add(chunk.subarray(from))
  }
  if (length > 0) yield take()
}
