// Commits as an mbox for `git am`. Each mail is made by `git format-patch`. `git am` removes the carriage return at the end of a line of
// a plain mail, so a mail with one is encoded as base64, where it stays.
import type { ObjectId } from '../../model/index.js'
import type { TemporaryRepository } from './temporary-repository.js'

export async function mailCommits(
  repository: TemporaryRepository,
  commits: readonly ObjectId[],
): Promise<Buffer> {
  const mails: Buffer[] = []
  for (const [index, commit] of commits.entries()) {
    const number = commits.length === 1 ? ['-N'] : [`--start-number=${index + 1}`, '-n']
    const args = ['format-patch', '--stdout', '--binary', '--full-index', '-M', '--root']
    const output = await repository.run([...args, ...number, '-1', commit])
    mails.push(output.includes('\r') ? encodeMail(output) : output)
  }
  return Buffer.concat(mails)
}

const LINE_CHARS = 76

/** The body is text in UTF-8 and a patch in any bytes. */
function encodeMail(mail: Buffer): Buffer {
  const end = mail.indexOf('\n\n')
  const head = mail
    .toString('latin1', 0, end)
    .split('\n')
    .filter((line) => !/^(?:MIME-Version|Content-Type|Content-Transfer-Encoding):/i.test(line))
  const headers = [
    ...head,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=UTF-8',
    'Content-Transfer-Encoding: base64',
  ]
  const body = mail.subarray(end + 2).toString('base64')
  const lines = body.match(new RegExp(`.{1,${LINE_CHARS}}`, 'g')) ?? []
  return Buffer.from(`${headers.join('\n')}\n\n${lines.join('\n')}\n\n`, 'latin1')
}
