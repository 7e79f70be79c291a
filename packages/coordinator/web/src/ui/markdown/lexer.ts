/**
 * Text of a model to the tokens of its Markdown. Only the page imports this, and only when there is
 * such text: the lexer weighs more than a whole screen.
 */
import { Lexer } from 'marked';
import type { Links, MarkedToken, Token } from 'marked';

/** Beyond it a paragraph is shown as it came: looking for emphasis takes time by the square. */
const MAX_INLINE_CHARACTERS = 8_000;
/**
 * Quotes and lists that begin deeper than this inside each other on one line, or items that are
 * indented so far. The lexer calls itself for each level, and runs out of stack or of time.
 */
const ON_ONE_LINE = /[ \t]*(?:(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])[ \t]*){24}/;
const INDENTED = /[ \t]{80,}(?:[-+*]|\d{1,9}[.)])[ \t]/;
const TOO_DEEP = new RegExp(`^(?:${ON_ONE_LINE.source}|${INDENTED.source}).*\\n?`, 'm');

/** `links` are the definitions of earlier text. */
export function lexMarkdown(text: string, links: Links): readonly MarkedToken[] {
  const tokens: MarkedToken[] = [];
  let rest = text;
  for (let deep = TOO_DEEP.exec(rest); deep !== null; deep = TOO_DEEP.exec(rest)) {
    const [line] = deep;
    tokens.push(...lexOrKeep(rest.slice(0, deep.index), links), ...plain(line));
    rest = rest.slice(deep.index + line.length);
  }
  return [...tokens, ...lexOrKeep(rest, links)];
}

function lexOrKeep(text: string, links: Links): readonly MarkedToken[] {
  try {
    return lex(text, links);
  } catch {
    // Nobody wrote this to be read: it is still text.
    return plain(text);
  }
}

function lex(text: string, links: Links): readonly MarkedToken[] {
  const lexer = new Lexer({ gfm: true });
  Object.assign(lexer.tokens.links, links);
  lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length <= MAX_INLINE_CHARACTERS) lexer.inlineTokens(src, tokens);
    else tokens.push(...plain(src));
  }
  return asMarked(lexer.tokens);
}

/** The lexer's type leaves room for tokens of extensions, of which there are none. */
function asMarked(tokens: readonly Token[]): readonly MarkedToken[] {
  return tokens as readonly MarkedToken[];
}

function plain(text: string): readonly MarkedToken[] {
  return [{ type: 'text', raw: text, text, escaped: false }];
}
