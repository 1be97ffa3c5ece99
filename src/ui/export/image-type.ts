// Which files the page shows as images, and how large they may be in an exported page. The server and the browser both use it, so it
// imports nothing.

// No SVG: it is a document with scripts, and it is text.
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
}

export const MAX_EXPORTED_IMAGE_BYTES = 200_000

/** Undefined for other files. */
export function imageTypeOf(path: string): string | undefined {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(IMAGE_TYPES, extension) ? IMAGE_TYPES[extension] : undefined
}
