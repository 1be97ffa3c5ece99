// Names that git would take for `.git` on some system, so that `git fsck` refuses a tree with them.
import { type BytePath, isAscii } from '../../../model/index.js'

// Code points that HFS+ leaves out when it compares names.
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
// Git takes a name to end there where it is not UTF-8, or not a character.
const HFS_GIT = /^\.git(?:$|[\ufffd\ufffe\uffff])/i
// NTFS ends a name at a blank, a dot at the end, or a colon; git~1 is the short form of .git there.
const NTFS_GIT = /^(?:\.git|git~1)(?:[ .]*$|[ .]*:)/i

export function isReservedName(name: BytePath): boolean {
  if (!/g/i.test(name)) return false
  // Only what is not ASCII can stand between the letters and not count.
  if (!/git/i.test(name) && isAscii(name)) return false
  const text = Buffer.from(name, 'latin1').toString('utf8')
  if (HFS_GIT.test(text.replace(HFS_IGNORED, ''))) return true
  return name.split('\\').some((part) => NTFS_GIT.test(part))
}
