import { useEffect, useMemo, useState } from 'preact/hooks';
import './markdown.css';
import { GrowingMarkdown } from './growing.js';
import type { LexMarkdown } from './growing.js';
import { MarkdownBlock } from './tokens.js';

interface MarkdownProps {
  /** Text of a model: nothing in it is trusted. It may grow between two renderings. */
  readonly text: string;
}

/** The lexer, once it is loaded. */
let loaded: LexMarkdown | null = null;

/** Text of a model, with headings, lists, tables and code. */
export function Markdown({ text }: MarkdownProps) {
  const lex = useLexer();
  const growing = useMemo(() => (lex === null ? null : new GrowingMarkdown(lex)), [lex]);
  const read = useMemo(() => growing?.read(text), [growing, text]);
  // Until the lexer is loaded, the text is shown without formatting.
  if (read === undefined) return <div class="markdown plain">{text}</div>;
  return (
    <div class="markdown">
      {read.blocks.map((token, index) => (
        <MarkdownBlock key={index} token={token} />
      ))}
      {read.rest !== '' && <div class="plain">{read.rest}</div>}
    </div>
  );
}

function useLexer(): LexMarkdown | null {
  const [lex, setLex] = useState(() => loaded);
  useEffect(() => {
    if (lex !== null) return;
    import('./lexer.js').then(
      ({ lexMarkdown }) => {
        loaded = lexMarkdown;
        setLex(() => lexMarkdown);
      },
      // If the lexer cannot be loaded, the text stays plain: the connection is down, and the screen
      // itself says so.
      () => undefined,
    );
  }, []);
  return lex;
}
