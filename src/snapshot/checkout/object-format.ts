// Reads the hash algorithm of a repository. Like git's early setup, it reads only the repository's own config file and no
// includes.

import { IndexUnsupported } from './index-format.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'

const MAX_CONFIG_BYTES = 64 * 1024 * 1024

/** The value of `extensions.objectformat` in lower case; `sha1` if there is none. */
export function readObjectFormat({ commonDir }: Repository): string {
  const bytes = readRegularFile(`${commonDir}/config`, MAX_CONFIG_BYTES)
  if (bytes === 'absent') return 'sha1'
  if (bytes === 'unfit') throw new IndexUnsupported('the config is not a regular file')
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
