// Which hash a repository names its objects with. Read as git does before anything else: from the
// repository's own config file alone, without what that includes.

import { IndexUnsupported } from './index-format.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'

const MAX_CONFIG_BYTES = 64 * 1024 * 1024

/** The value of `extensions.objectformat` in lower case; `sha1` when there is none. */
export function objectFormatOf({ commonDir }: Repository): string {
  const bytes = readRegularFile(`${commonDir}/config`, MAX_CONFIG_BYTES)
  if (bytes === 'absent') return 'sha1'
  if (bytes === 'unfit') throw new IndexUnsupported('the config is no regular file')
  let section = ''
  let format = 'sha1'
  for (const line of bytes.toString('latin1').split('\n')) {
    const header = /^[ \t]*\[([^\]]*)\]/.exec(line)
    if (header !== null) section = (header[1] ?? '').toLowerCase()
    if (section !== 'extensions') continue
    const setting = line.slice(header?.[0].length ?? 0)
    format = /^[ \t]*objectformat[ \t]*=[ \t]*"?(\w+)/i.exec(setting)?.[1]?.toLowerCase() ?? format
  }
  return format
}
