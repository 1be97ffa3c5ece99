// `GET /api/file`: the bytes of one file of a checkpoint, as a download. The page shows images from it as `blob:` addresses. With
// `now` it is the file of the folder that the checkpoint is compared with, unless a checkpoint would leave it out.
import { SavestateError } from '../../internal.js'
import type { PageContext } from '../methods/method.js'
import type { Answer } from './answer.js'

export async function downloadFile(
  { project }: PageContext,
  query: URLSearchParams,
): Promise<Answer> {
  const [path, ref, file] = ['project', 'ref', 'path'].map((name) => query.get(name))
  if (!path || !ref || !file)
    throw new SavestateError('BAD_INPUT', 'The address needs project, ref and path')
  const found = await project(path)
  const { content, path: name } = query.has('now')
    ? await found.internals.fileNow(file, { since: ref })
    : await found.file(ref, file)
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeFileName(name)}`,
      'Cache-Control': 'no-store',
    },
    body: Buffer.from(content),
  }
}

/** As RFC 5987 wants it. Names are bytes of a stranger: everything but a few characters is encoded. */
function encodeFileName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
