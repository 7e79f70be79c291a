/**
 * Parses Markdown of a model into tokens. It is loaded only when there is such text: the lexer is
 * larger than a whole screen.
 */
import { Lexer } from 'marked';
import type { Links, Token } from 'marked';
import type { MarkdownToken, MathToken } from './growing.js';

/** Longer paragraphs are shown as they came: looking for emphasis takes quadratic time. */
const MAX_INLINE_CHARACTERS = 8_000;
/**
 * Lines with at least this many nested quotes and lists, or with items that are indented this far.
 * The lexer recurses into each level, and runs out of stack or of time.
 */
const ON_ONE_LINE = /[ \t]*(?:(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])[ \t]*){24}/;
const INDENTED = /[ \t]{80,}(?:[-+*]|\d{1,9}[.)])[ \t]/;
const TOO_DEEP = new RegExp(`^(?:${ON_ONE_LINE.source}|${INDENTED.source}).*\\n?`, 'm');

/** `links` are the definitions of earlier text. */
export function lexMarkdown(text: string, links: Links): readonly MarkdownToken[] {
  const tokens: MarkdownToken[] = [];
  let rest = text;
  for (let deep = TOO_DEEP.exec(rest); deep !== null; deep = TOO_DEEP.exec(rest)) {
    const [line] = deep;
    tokens.push(...lexOrKeep(rest.slice(0, deep.index), links), ...plain(line));
    rest = rest.slice(deep.index + line.length);
  }
  return [...tokens, ...lexOrKeep(rest, links)];
}

function lexOrKeep(text: string, links: Links): readonly MarkdownToken[] {
  try {
    return lex(text, links);
  } catch {
    // Text on which the lexer fails is shown as plain text.
    return plain(text);
  }
}

function lex(text: string, links: Links): readonly MarkdownToken[] {
  const lexer = new Lexer({ gfm: true, extensions: FORMULAS });
  Object.assign(lexer.tokens.links, links);
  lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length <= MAX_INLINE_CHARACTERS) lexer.inlineTokens(src, tokens);
    else tokens.push(...plain(src));
  }
  return asMarked(lexer.tokens);
}

/** The lexer's type also allows tokens of any extension; the one for formulas is installed. */
function asMarked(tokens: readonly Token[]): readonly MarkdownToken[] {
  return tokens as readonly MarkdownToken[];
}

// Formulas: `$…$`, `\(…\)`, and in their own line `$$…$$` and `\[…\]`.

/** Searching for the end of a formula goes no further. */
const MOST = '{1,2000}?';
const DOLLARS = String.raw`\$\$((?:\\[^]|[^$\\])${MOST})\$\$`;
const BRACKETS = String.raw`\\\[((?:\\[^\]]|[^\\])${MOST})\\\]`;
const PARENTHESES = String.raw`\\\(((?:\\[^)]|[^\\])${MOST})\\\)`;
/** Not `$5 or $10`: no space inside, and no digit after it. */
const DOLLAR = String.raw`\$(?![\s$])((?:\\[^]|[^$\\\n])${MOST})(?<!\s)\$(?!\d)`;
const BLOCK = new RegExp(`^ {0,3}(?:${DOLLARS}|${BRACKETS})[ \\t]*(?:\\n+|$)`);
const IN_TEXT = new RegExp(`^(?:${DOLLARS}|${BRACKETS}|${PARENTHESES}|${DOLLAR})`);
const BLANK_LINE = /\n[ \t]*\n/;

function mathBlock(src: string): MathToken | undefined {
  const found = BLOCK.exec(src);
  if (found === null) return undefined;
  const text = found[1] ?? found[2] ?? '';
  // A block that grows is settled at a blank line, whatever comes after it.
  return BLANK_LINE.test(text) ? undefined : mathToken(found[0], text, true);
}

function mathInText(src: string): MathToken | undefined {
  const found = IN_TEXT.exec(src);
  if (found === null) return undefined;
  const text = found.slice(1).find((group) => group !== undefined) ?? '';
  return mathToken(found[0], text, found[1] !== undefined || found[2] !== undefined);
}

function mathToken(raw: string, text: string, isBlock: boolean): MathToken {
  return { type: 'math', raw, text: text.trim(), isBlock };
}

const FORMULAS = {
  renderers: {},
  childTokens: {},
  block: [mathBlock],
  inline: [mathInText],
  // Where plain text ends.
  startInline: [(src: string) => src.search(/\$|\\[([]/)],
};

function plain(text: string): readonly MarkdownToken[] {
  return [{ type: 'text', raw: text, text, escaped: false }];
}
