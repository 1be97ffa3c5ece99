// Splits a line of shell into simple commands and their words. It is not a shell: it knows quotes, operators, substitutions
// and redirections. The guard treats lines that it does not understand as if they ran every text in them.

export type Command = {
  /** Without quotes. */
  readonly words: readonly string[]
  /** The targets of its redirections. */
  readonly targets: readonly string[]
  /** Its stdin is the output of the previous command. */
  readonly isFed: boolean
}

/** More levels of substitutions are treated as if they were not nested. */
const MAX_DEPTH = 20
/** The innermost `$(…)`, `<(…)` and backticks. Quoted text without a substitution is skipped. */
const SUBSTITUTION = /\\.|'[^']*'|"(?:\\.|[^"\\$`])*"|[$<>]\(([^()]*)\)|`([^`]*)`/gs
const TOKEN =
  /\\([^])|'([^']*)'?|"((?:\\[^]|[^"\\])*)"?|(&?[<>]+[&|!]?)|(\|[|&]?|[;&\n()])|([^\S\n]+|(?<![^\s;&|()])#[^\n]*)|([^\s\\'"<>|;&()]+|[^])/g

/** Each substitution becomes a `$` in the words of its command; its own commands come first. */
export function splitLine(text: string): readonly Command[] {
  const commands: Command[] = []
  let rest = text
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const outer = rest.replaceAll(SUBSTITUTION, (whole, inParens?: string, inTicks?: string) => {
      const inner = inParens ?? inTicks
      if (inner === undefined) return whole
      commands.push(...splitCommands(inner))
      return '$'
    })
    if (outer === rest) break
    rest = outer
  }
  return [...commands, ...splitCommands(rest)]
}

function splitCommands(text: string): readonly Command[] {
  const commands: Command[] = []
  let words: string[] = []
  let targets: string[] = []
  let word: string | undefined
  let isTarget = false
  let isFed = false
  const endWord = () => {
    if (word === undefined) return
    if (isTarget) targets.push(word)
    else words.push(word)
    word = undefined
    isTarget = false
  }
  const endCommand = (operator: string) => {
    endWord()
    const isEmpty = words.length + targets.length === 0
    if (!isEmpty) commands.push({ words, targets, isFed })
    words = []
    targets = []
    isTarget = false
    isFed = operator === '|' || operator === '|&' || (isFed && isEmpty)
  }
  for (const match of text.matchAll(TOKEN)) {
    const [, escaped, single, double, redirection, operator, space, plain] = match
    if (redirection !== undefined) {
      // The number of a descriptor, as in `2>`.
      if (/^(?:\d+|\{\w+\})$/.test(word ?? '')) word = undefined
      endWord()
      isTarget = true
    } else if (operator !== undefined) endCommand(operator)
    else if (space !== undefined) endWord()
    else if (escaped !== '\n') {
      // An apostrophe in the text hides its substitution from SUBSTITUTION.
      if (double !== undefined && /\$\(|`/.test(double))
        commands.push(...splitLine(double.replaceAll("'", '')))
      word = (word ?? '') + (escaped ?? single ?? double?.replaceAll(/\\([^])/g, '$1') ?? plain)
    }
  }
  endCommand('')
  return commands
}
