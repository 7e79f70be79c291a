import { useEffect, useMemo, useState } from 'preact/hooks';
import './markdown.css';
import { GrowingMarkdown } from './growing.js';
import type { LexMarkdown } from './growing.js';
import { MarkdownBlock } from './tokens.js';

interface MarkdownProps {
  /** Of a model: nothing in it is trusted. It may grow from one drawing to the next. */
  readonly text: string;
}

/** Loaded once for all. */
let loaded: LexMarkdown | null = null;

/** Text of a model, with headings, lists, tables and code. */
export function Markdown({ text }: MarkdownProps) {
  const lex = useLexer();
  const growing = useMemo(() => (lex === null ? null : new GrowingMarkdown(lex)), [lex]);
  const read = useMemo(() => growing?.read(text), [growing, text]);
  // The text is there at once, and gets its form when the lexer has come.
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
      // Without it the text stays plain: the connection is gone, and the screen says so itself.
      () => undefined,
    );
  }, []);
  return lex;
}
