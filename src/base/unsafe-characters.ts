// Characters that control a terminal, change the reading direction, or are invisible. We escape them in text from others, so
// that it cannot act on the terminal or show the user less than the model sees.

/**
 * Controls, line and paragraph separators, lone surrogates, and all that Unicode calls default ignorable (tags, soft hyphens,
 * fillers, …) except joiners and the selectors of emoji, which ordinary text needs.
 */
export const UNSAFE_CHARACTERS =
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Cs}|(?!\u200c|\u200d|\ufe0e|\ufe0f)\p{Default_Ignorable_Code_Point}/gu

/** The JSON escape of a character: `\u` and four hex digits per UTF-16 unit. */
export function jsonEscape(char: string): string {
  return Array.from({ length: char.length }, (_, at) => char.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}
