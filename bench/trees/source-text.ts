/**
 * Text that resembles TypeScript sources and compresses like them: about 4:1 with deflate over a whole tree.
 * Every text starts with its number, so no two are equal.
 */
import type { Random } from './random.js'

const VERBS =
  'apply bind build check clear close collect compare count create decode drain emit encode ensure expand fetch filter find flush format gather handle index insert join list load lock map mark merge open pack parse patch plan print push query queue read record refresh render resolve retry scan send sort split start stop store submit sync take toggle trim update validate visit wait watch wrap write'.split(
    ' ',
  )
const NOUNS =
  'account action agent batch block branch buffer cache cell channel chunk client column command commit config content context cursor date delta draft edge editor entry error event field file filter folder frame graph group handle header image input invoice item job key label layer ledger limit line link list locale lock market member message method module node note offset option order owner packet page panel parser patch path payload plan point policy price profile project prompt queue range reason record region report request result role route row rule schema scope section segment session shape sheet signal size source span stage state status step store stream string style symbol table task team text theme thread ticket timer token tool trace tree user value vector version view widget window worker'.split(
    ' ',
  )
const PLAIN =
  'a the of to and for when with from only after before every never must should keeps returns because already without until missing empty first last same other'.split(
    ' ',
  )

export function word(random: Random): string {
  return random.pick(NOUNS)
}

export function sourceText(
  random: Random,
  { number, sizeBytes }: { number: number; sizeBytes: number },
): string {
  const names = localNames(random, 6 + Math.floor(Math.sqrt(sizeBytes) / 3))
  let text = `// ${number.toString(36)}: ${sentence(random)}\n`
  const written: string[] = []
  while (text.length < sizeBytes) {
    // Sources repeat lines as well as words.
    const repeats = written.length > 0 && random.fraction() < 0.24
    const line = repeats
      ? random.pick(written)
      : random.pick(SHAPES)(random, () => random.pick(names))
    written.push(line)
    text += line
  }
  return text
}

/** Each file has its own words and repeats them, which is the main reason that sources compress well. */
function localNames(random: Random, count: number): readonly string[] {
  const names: string[] = []
  while (names.length < count) {
    names.push(random.pick(VERBS) + capital(word(random)), word(random))
  }
  return names
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function sentence(random: Random): string {
  let text = `${random.pick(VERBS)} ${random.pick(PLAIN)} ${word(random)}`
  for (let length = random.below(4); length > 0; length -= 1) {
    text += ` ${random.pick(PLAIN)} ${word(random)}`
  }
  return text
}

type Shape = (random: Random, name: () => string) => string

const SHAPES: readonly Shape[] = [
  (_, name) => `import { ${name()}, type ${capital(name())} } from '../${name()}/${name()}.js'\n`,
  (random) => `\n/** ${capital(sentence(random))}. */\n`,
  (random) => `  // ${capital(sentence(random))}.\n`,
  (_, name) => `export interface ${capital(name())} {\n  readonly ${name()}: ${capital(name())}\n`,
  (_, name) => `  readonly ${name()}: string | undefined\n  readonly ${name()}: number\n}\n`,
  (_, name) => {
    const type = capital(name())
    return `export async function ${name()}(${name()}: ${type}): Promise<${type}> {\n`
  },
  (_, name) =>
    `  const ${name()} = await ${name()}(${name()}.${name()}, { ${name()}, ${name()} })\n`,
  (_, name) => `  if (${name()}.${name()} === undefined) return ${name()}\n`,
  (random, name) => `  for (const ${name()} of ${name()}.slice(${random.below(100)})) {\n`,
  (_, name) => `    ${name()}.set(${name()}.${name()}, ${name()}(${name()}))\n  }\n`,
  (_, name) => `  return { ...${name()}, ${name()}: ${name()}.length }\n}\n\n`,
  (random, name) => `const ${name()} = ${random.below(10_000)}\n`,
  (random, name) => `  throw new RangeError(\`\${${name()}} ${sentence(random)}\`, { cause })\n`,
  (random, name) =>
    `  expect(${name()}(${random.below(50)})).toEqual({ ${name()}: '${name()}' })\n`,
]
