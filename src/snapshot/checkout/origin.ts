// Finds out which repository a checkout was cloned from, so that clones on two machines are known as one project. Reads the config
// file only: git would also read includes and the user's configuration, which another machine does not have.
import { createHash } from 'node:crypto'
import type { BytePath } from '../../model/index.js'
import { readRegularFile } from './regular-file.js'
import { enclosingRepository, type Repository } from './repository.js'

const MAX_CONFIG_BYTES = 1 << 20

/**
 * A hash that is the same for every clone of one repository, whatever its protocol and credentials, and for the same folder in it.
 * Undefined without a repository or a remote `origin`.
 */
export function originHash(folder: string): string | undefined {
  const found = enclosingRepository(folder)
  if (found === undefined) return undefined
  const url = readOriginUrl(found.repository)
  return url === undefined ? undefined : hashOrigin(url, found.prefix)
}

function hashOrigin(url: string, prefix: BytePath): string {
  return createHash('sha256')
    .update(`${normalizeUrl(url)}\0${prefix}`, 'latin1')
    .digest('hex')
}

/** The last `url` of `[remote "origin"]`, as git reads it. */
function readOriginUrl({ commonDir }: Repository): string | undefined {
  const bytes = readRegularFile(`${commonDir}/config`, MAX_CONFIG_BYTES)
  if (typeof bytes === 'string') return undefined
  let isOrigin = false
  let url: string | undefined
  for (const line of bytes.toString('latin1').split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line)?.[1]
    if (section !== undefined) isOrigin = /^remote\s+"origin"\s*$/i.test(section)
    const value = isOrigin ? /^\s*url\s*=\s*(.*?)\s*$/i.exec(line)?.[1] : undefined
    if (value !== undefined && value !== '') url = value.replace(/^"(.*)"$/, '$1')
  }
  return url
}

/** `https://user@Host.org/a/b.git` and `git@host.org:a/b` are `host.org/a/b`. */
function normalizeUrl(url: string): string {
  const scp = /^(?:[^@/:]+@)?([^/:]+):(?!\/\/)(.+)$/.exec(url)
  const parts = scp ?? /^[a-z][a-z+]*:\/\/(?:[^@/]*@)?([^/]*)(\/.*)?$/i.exec(url)
  if (parts === null) return trimPath(url)
  const host = (parts[1] ?? '').toLowerCase().replace(/:(?:22|80|443|9418)$/, '')
  return `${host}/${trimPath((parts[2] ?? '').replace(/^\/+/, ''))}`
}

function trimPath(path: string): string {
  return path.replace(/\/+$/, '').replace(/\.git$/, '')
}
