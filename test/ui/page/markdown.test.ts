// The Markdown of answers, as data. The page renders it with elements and text nodes.
import { expect, test } from 'vitest'
import {
  type Block,
  type Inline,
  parseInline,
  parseMarkdown,
} from '../../../ui/components/markdown-blocks.js'

const text = (words: string): Inline => ({ kind: 'text', text: words })

test('paragraphs, headings, rules and code blocks', () => {
  expect(
    parseMarkdown(
      '# Plan ##\n\nFirst\nsecond\n\n---\n```ts\nconst a = `b`\n\n# no heading\n```\nend',
    ),
  ).toEqual([
    { kind: 'heading', level: 1, content: [text('Plan')] },
    { kind: 'paragraph', content: [text('First\nsecond')] },
    { kind: 'rule' },
    { kind: 'code', language: 'ts', text: 'const a = `b`\n\n# no heading' },
    { kind: 'paragraph', content: [text('end')] },
  ] satisfies Block[])
})

test('a code block that is not closed goes to the end', () => {
  expect(parseMarkdown('~~~\na\n```\nb')).toEqual([
    { kind: 'code', language: '', text: 'a\n```\nb' },
  ])
})

test('lists have depths and markers', () => {
  expect(parseMarkdown('1. one\n   more\n   - deep\n2. two')).toEqual([
    {
      kind: 'list',
      items: [
        { marker: '1.', depth: 0, content: [text('one\nmore')] },
        { marker: '•', depth: 1, content: [text('deep')] },
        { marker: '2.', depth: 0, content: [text('two')] },
      ],
    },
  ])
})

test('quotes are nested, tables stay as typed', () => {
  expect(parseMarkdown('> a\n> > b\n\n| x | y |\n|---|---|\n| 1 | 2 |')).toEqual([
    {
      kind: 'quote',
      blocks: [
        { kind: 'paragraph', content: [text('a')] },
        { kind: 'quote', blocks: [{ kind: 'paragraph', content: [text('b')] }] },
      ],
    },
    { kind: 'table', text: '| x | y |\n|---|---|\n| 1 | 2 |' },
  ])
})

test('bold, italic, code and escapes', () => {
  expect(parseInline('a **b *c* `**`** snake_case_name \\*d\\* ``x`y``')).toEqual([
    text('a '),
    {
      kind: 'strong',
      content: [text('b '), { kind: 'emphasis', content: [text('c')] }, text(' '), code('**')],
    },
    text(' snake_case_name *d* '),
    code('x`y'),
  ])
  expect(parseInline('2 * 3 * 4, **open and `open')).toEqual([text('2 * 3 * 4, **open and `open')])
})

test('links have their target; an image is a link', () => {
  expect(parseInline('[docs](https://a.example/x_(y)) and https://b.example/c.')).toEqual([
    { kind: 'link', target: 'https://a.example/x_(y)', text: 'docs' },
    text(' and '),
    { kind: 'link', target: 'https://b.example/c', text: 'https://b.example/c' },
    text('.'),
  ])
  expect(parseInline('![pixel](https://c.example/p.png)')).toEqual([
    text('!'),
    { kind: 'link', target: 'https://c.example/p.png', text: 'pixel' },
  ])
})

test('HTML is text', () => {
  const html = '<img src=x onerror=alert(1)><script>alert(1)</script>'
  expect(parseMarkdown(html)).toEqual([{ kind: 'paragraph', content: [text(html)] }])
})

test('the target of a link is kept as it is: the page opens only http, https and mailto', () => {
  expect(parseInline('[x](javascript:alert%281%29)')).toEqual([
    { kind: 'link', target: 'javascript:alert%281%29', text: 'x' },
  ])
})

test('nesting has a limit', () => {
  const depth = (blocks: readonly Block[]): number =>
    Math.max(0, ...blocks.map((one) => (one.kind === 'quote' ? 1 + depth(one.blocks) : 0)))
  expect(depth(parseMarkdown(`${'>'.repeat(10_000)} a`))).toBe(4)
  const inlineDepth = (content: readonly Inline[]): number =>
    Math.max(0, ...content.map((one) => ('content' in one ? 1 + inlineDepth(one.content) : 0)))
  expect(inlineDepth(parseInline('**_*__'.repeat(10_000)))).toBeLessThanOrEqual(4)
  const lists = Array.from({ length: 1000 }, (_, index) => `${' '.repeat(index)}- x`).join('\n')
  const [list] = parseMarkdown(lists)
  expect(list?.kind === 'list' && Math.max(...list.items.map((item) => item.depth))).toBe(4)
})

test('hostile texts take linear time', () => {
  const parts = [
    '`',
    '[',
    '[a](',
    '*a ',
    '**_',
    '![](',
    '> ',
    '- ',
    '|-',
    'http://',
    '~~~\n',
    '# #',
    '. ',
    '\\`',
  ]
  // A parser with quadratic time needs minutes for these: the timeout of the test is the check.
  for (const part of [...parts, ...parts.map((one) => `${one} `)])
    for (const line of [
      part.repeat(60_000),
      `|\n${part}${' '.repeat(100_000)}x`,
      `${part}${'.'.repeat(100_000)}x`,
    ])
      expect(parseMarkdown(line).length).toBeGreaterThan(0)
})

function code(words: string): Inline {
  return { kind: 'code', text: words }
}
