/**
 * Parses Markdown of a model into tokens. It is loaded only when there is such text: the lexer is
 * larger than a whole screen.
 */
import { Lexer } from 'marked';
import type { Links, MarkedToken, Token } from 'marked';

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
    // Text on which the lexer fails is shown as plain text.
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

/** The lexer's type also allows tokens of extensions; none is installed. */
function asMarked(tokens: readonly Token[]): readonly MarkedToken[] {
  return tokens as readonly MarkedToken[];
}

function plain(text: string): readonly MarkedToken[] {
  return [{ type: 'text', raw: text, text, escaped: false }];
}
