// What `<`, `>` and their kin are followed by: a file, a descriptor or a text, and never an argument of the command.

/** What follows: the name of a file, the word that ends a text on the next lines, or the text itself. */
export type Redirection = { readonly type: 'file' | 'text' } | HereText

export type HereText = {
  readonly type: 'here'
  /** Whether tabs at the beginning of its lines do not count. */
  readonly isIndented: boolean
}

/** Shells that read some signs in another way. Which one will run the line is not known. */
export const SHELLS = ['bash', 'sh', 'zsh'] as const
export type Shell = (typeof SHELLS)[number]

const SIGN = /<<<|<<-?|<[>&]?|&>>?\|?|>>?&?\|?/y
/** `>! file` is a redirection to `file` in zsh, and one to `!` in others. */
const SIGN_OF_ZSH = /(?:&>>?|>>?&?)!/y
/** Whole by itself in bash, where `>&-b` is followed by the argument `b`. */
const CLOSED = /[<>]&[ \t]*-/y
/** `a &>b` is `a &` and then `>b` in shells that know nothing but POSIX. */
const DIFFERS: Readonly<Record<Shell, RegExp | undefined>> = {
  bash: undefined,
  sh: /&>|[<>]&[ \t]*-/,
  zsh: />&?!/,
}

/** Those that would not all take this line for the same. */
export function shellsFor(text: string): readonly Shell[] {
  return SHELLS.filter((shell) => DIFFERS[shell]?.test(text) ?? true)
}

/** The sign of a redirection that begins there. */
export function redirectionAt(
  text: string,
  { at, shell }: { readonly at: number; readonly shell: Shell },
): { readonly sign: string; readonly redirection?: Redirection } | undefined {
  const closed = shell === 'bash' ? matchAt(CLOSED, text, at) : undefined
  if (closed !== undefined) return { sign: closed }
  const ofZsh = shell === 'zsh' ? matchAt(SIGN_OF_ZSH, text, at) : undefined
  const sign = ofZsh ?? matchAt(SIGN, text, at)
  if (sign === undefined || (shell === 'sh' && sign.startsWith('&'))) return undefined
  return { sign, redirection: redirectionOf(sign) }
}

/** What may stand directly before the sign and belongs to it: `2>`, `{log}>`. */
export function isDescriptor(word: string | undefined, sign: string): boolean {
  return word !== undefined && !sign.startsWith('&') && /^(?:\d+|\{\w+\})$/.test(word)
}

function redirectionOf(sign: string): Redirection {
  if (sign === '<<<') return { type: 'text' }
  return sign.startsWith('<<') ? { type: 'here', isIndented: sign === '<<-' } : { type: 'file' }
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}
