/**
 * Markdown that grows while it is shown: the text before the last block cannot change any more, and
 * is not parsed again.
 */
import type { Links, MarkedToken, Tokens } from 'marked';

/** Text after this limit is shown as it came. */
const MAX_CHARACTERS = 200_000;

/** A formula in TeX. */
export interface MathToken {
  readonly type: 'math';
  readonly raw: string;
  /** Without its delimiters. */
  readonly text: string;
  readonly isBlock: boolean;
}

export type MarkdownToken = MarkedToken | MathToken;

export type LexMarkdown = (text: string, links: Links) => readonly MarkdownToken[];

export interface MarkdownBlocks {
  /** Unchanged blocks are the same objects as the last time. */
  readonly blocks: readonly MarkdownToken[];
  /** The part beyond the limit of parsing. */
  readonly rest: string;
}

export class GrowingMarkdown {
  readonly #lex: LexMarkdown;
  #links: Links = {};
  #settled: readonly MarkdownToken[] = [];
  /** The text of the settled blocks. */
  #settledText = '';

  constructor(lex: LexMarkdown) {
    this.#lex = lex;
  }

  read(whole: string): MarkdownBlocks {
    const written = whole.replaceAll(/\r\n?/g, '\n');
    const text = written.slice(0, MAX_CHARACTERS);
    if (!text.startsWith(this.#settledText)) this.#forget();
    const tokens = this.#lex(text.slice(this.#settledText.length), this.#links);
    const blocks = [...this.#settled, ...tokens];
    this.#settle(tokens);
    return { blocks, rest: written.slice(MAX_CHARACTERS) };
  }

  /**
   * Settles all blocks before the last one. The last one may still grow, and so may the blank lines
   * after it: a list can continue after them.
   */
  #settle(tokens: readonly MarkdownToken[]): void {
    const last = tokens.findLastIndex(({ type }) => type !== 'space');
    const done = tokens.slice(0, Math.max(last, 0));
    if (done.length === 0) return;
    this.#settled = [...this.#settled, ...done];
    this.#settledText += done.map(({ raw }) => raw).join('');
    for (const token of done) if (token.type === 'def') this.#define(token);
  }

  /** The first definition of a name counts, as everywhere in Markdown. */
  #define({ tag, href, title }: Tokens.Def): void {
    this.#links[tag] ??= { href, title };
  }

  #forget(): void {
    this.#links = {};
    this.#settled = [];
    this.#settledText = '';
  }
}
