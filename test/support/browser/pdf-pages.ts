// Counts the pages of a printed page.
import { inflateSync } from 'node:zlib'

/** Newer PDFs keep the objects of their pages in compressed streams. */
export function pagesOf(pdf: Buffer): number {
  const text = pdf.toString('latin1')
  const streams = [...text.matchAll(/\/Type\s*\/ObjStm[\s\S]*?stream\r?\n/g)].map(
    ({ index, 0: head }) => inflateSync(pdf.subarray(index + head.length)).toString('latin1'),
  )
  return [text, ...streams].join('\n').match(/\/Type\s*\/Page\b/g)?.length ?? 0
}
