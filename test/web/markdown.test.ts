import { describe, expect, test } from 'vitest';
import { GrowingMarkdown } from '../../packages/coordinator/web/src/ui/markdown/growing.js';
import type { LexMarkdown } from '../../packages/coordinator/web/src/ui/markdown/growing.js';
import { lexMarkdown } from '../../packages/coordinator/web/src/ui/markdown/lexer.js';

const TEXT = [
  '# Plan',
  'A *first* paragraph\nof two lines.',
  '- one\n\n- two\n  - deeper',
  '```js\nlet a = 1;\n\nlet b = 2;\n```',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  'Setext\n===',
  '> quoted\nlazily',
  'The [end].',
].join('\n\n');

/** Text and style, without positions. */
function outline(blocks: ReturnType<LexMarkdown>): readonly string[] {
  return blocks.filter(({ type }) => type !== 'space').map(({ type, raw }) => `${type} ${raw}`);
}

describe('Markdown that grows', () => {
  test('is the same at its end as if it had come at once', () => {
    const growing = new GrowingMarkdown(lexMarkdown);
    for (let end = 1; end < TEXT.length; end++) growing.read(TEXT.slice(0, end));
    const { blocks } = growing.read(TEXT);
    expect(outline(blocks)).toEqual(outline(lexMarkdown(TEXT, {})));
    expect(outline(blocks)).toHaveLength(8);
  });

  test('is parsed again only in its last block', () => {
    const lengths: number[] = [];
    const growing = new GrowingMarkdown((text: string, links: Parameters<LexMarkdown>[1]) => {
      lengths.push(text.length);
      return lexMarkdown(text, links);
    });
    const paragraph = `${'word '.repeat(50)}\n\n`;
    let text = '';
    for (let i = 0; i < 100; i++) {
      text += paragraph;
      growing.read(text);
    }
    expect(Math.max(...lengths)).toBeLessThanOrEqual(2 * paragraph.length);
    const before = growing.read(`${text}a`).blocks;
    const after = growing.read(`${text}ab`).blocks;
    // The same objects: their drawing is not repeated.
    expect(after.slice(0, -1).every((block, index) => block === before[index])).toBe(true);
    expect(after.at(-1)).not.toBe(before.at(-1));
  });

  test('begins anew when the text is another one', () => {
    const growing = new GrowingMarkdown(lexMarkdown);
    growing.read('# One\n\ntwo\n\nthree');
    expect(outline(growing.read('other').blocks)).toEqual(['paragraph other']);
  });

  test('takes line ends of every kind', () => {
    const growing = new GrowingMarkdown(lexMarkdown);
    growing.read('a\r\n\r\nb');
    const { blocks } = growing.read('a\r\n\r\nb\r\n\r\nc');
    expect(outline(blocks)).toEqual(['paragraph a', 'paragraph b', 'paragraph c']);
  });

  test('keeps what earlier text has defined, and the first of a name', () => {
    const growing = new GrowingMarkdown(lexMarkdown);
    const text = '[end]: https://example.org/1\n\n[end]: https://example.org/2\n\nThe [end].';
    for (let end = 1; end < text.length; end++) growing.read(text.slice(0, end));
    const last = growing.read(text).blocks.at(-1);
    expect(JSON.stringify(last)).toContain('"href":"https://example.org/1"');
  });

  test('is left unparsed beyond 200,000 characters', () => {
    const growing = new GrowingMarkdown(lexMarkdown);
    const { blocks, rest } = growing.read('a\n\n'.repeat(70_000));
    expect(rest).toHaveLength(10_000);
    expect(blocks.length).toBeGreaterThan(1_000);
  });
});

interface AnyToken {
  readonly type: string;
  readonly text?: string;
  readonly tokens?: readonly AnyToken[];
  readonly items?: readonly AnyToken[];
}

function formulasIn(tokens: readonly AnyToken[]): readonly string[] {
  return tokens.flatMap(({ type, text = '', tokens: inner = [], items = [] }) =>
    type === 'math' ? [text] : formulasIn([...inner, ...items]),
  );
}

describe('a formula', () => {
  test.each([
    ['between dollars', 'so $a_b$ and $c_d$.', ['a_b', 'c_d']],
    ['in parentheses and brackets', String.raw`\(x*y*z\) and \[w\]`, ['x*y*z', 'w']],
    ['in its own lines', '$$\n- x\n= y\n$$\n\nnext', ['- x\n= y']],
    ['in a list', '- one $a$', ['a']],
    ['but no price', 'from $5 to $10, or $20', []],
    ['but no price without a space', 'between $20,000 and USD$30,000', []],
    ['but nothing escaped or in code', '\\$a\\$ and `$b$`', []],
    ['but nothing over a blank line', '$$\na\n\nb\n$$', []],
  ])('is found %s', (_, text, formulas) => {
    expect(formulasIn(lexMarkdown(text, {}))).toEqual(formulas);
  });
});

describe('hostile text', () => {
  test.each([
    ['quotes in quotes', '> '.repeat(20_000)],
    ['quotes without spaces', '>'.repeat(50_000)],
    ['lists in lists', '- '.repeat(20_000)],
    ['numbered lists', '1. '.repeat(20_000)],
    ['lists indented step by step', indented(300)],
    ['emphasis that never ends', '**a*b'.repeat(20_000)],
    ['links that never end', '[a]('.repeat(20_000)],
    ['brackets', '['.repeat(50_000)],
    ['elements that never end', '<a '.repeat(20_000)],
    ['formulas that never end', '$a '.repeat(30_000)],
    ['formulas in brackets that never end', '\\(a\\[b '.repeat(15_000)],
    ['formulas in their own lines that never end', '$$\n\n'.repeat(20_000)],
    ['backticks', '`a ``b '.repeat(10_000)],
    ['a table of 5,000 columns', `${'|a'.repeat(5_000)}\n${'|-'.repeat(5_000)}\n`],
  ])('of %s is read in time, and nothing of it is lost', (_what, text) => {
    const startedAt = performance.now();
    const tokens = lexMarkdown(text, {});
    // Milliseconds on an idle machine; without a limit it takes seconds, or overflows the stack.
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(tokens.map(({ raw }) => raw).join('')).toHaveLength(text.length);
  });

  test('is text where it nests too deep, and what stands around it is not', () => {
    const blocks = lexMarkdown(`# Before\n\n${'> '.repeat(100)}deep\n\n*after*`, {});
    const types = blocks.map(({ type }) => type).filter((type) => type !== 'space');
    expect(types).toEqual(['heading', 'text', 'paragraph']);
  });
});

function indented(depth: number): string {
  return Array.from({ length: depth }, (_, at) => `${'  '.repeat(at)}- a\n`).join('');
}
