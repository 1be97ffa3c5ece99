// Detects names that git treats as `.git` on some file system: `git fsck` rejects a tree that contains one.
import { type BytePath, isAscii } from '../../../model/index.js'

// Code points that HFS+ ignores when it compares names.
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
// Git ends the name at invalid UTF-8 and at a noncharacter.
const HFS_GIT = /^\.git(?:$|[\ufffd\ufffe\uffff])/i
// NTFS drops trailing blanks and dots and everything from a colon on; git~1 is the short form of .git.
const NTFS_GIT = /^(?:\.git|git~1)(?:[ .]*$|[ .]*:)/i

export function isReservedName(name: BytePath): boolean {
  if (!/g/i.test(name)) return false
  // Only ignored code points, which are not ASCII, can separate the letters.
  if (!/git/i.test(name) && isAscii(name)) return false
  const text = Buffer.from(name, 'latin1').toString('utf8')
  if (HFS_GIT.test(text.replace(HFS_IGNORED, ''))) return true
  return name.split('\\').some((part) => NTFS_GIT.test(part))
}
