import { useMemo } from 'preact/hooks';
import './markdown.css';
import { GrowingMarkdown } from './growing.js';
import { LazyModule, useModule } from './lazy-module.js';
import { FormulaBudget, MAX_TEX_CHARACTERS } from './rich.js';
import { MarkdownBlock } from './tokens.js';

interface MarkdownProps {
  /** Text of a model: nothing in it is trusted. It may grow between two renderings. */
  readonly text: string;
}

const lexer = new LazyModule(() => import('./lexer.js'));

/** Text of a model, with headings, lists, tables, code and formulas. */
export function Markdown({ text }: MarkdownProps) {
  const module = useModule(lexer);
  const growing = useMemo(
    () => (module === null ? null : new GrowingMarkdown(module.lexMarkdown)),
    [module],
  );
  const read = useMemo(() => growing?.read(text), [growing, text]);
  const budget = useMemo(() => ({ characters: MAX_TEX_CHARACTERS }), []);
  // Until the lexer is loaded, the text is shown without formatting.
  if (read === undefined) return <div class="markdown plain">{text}</div>;
  return (
    <FormulaBudget.Provider value={budget}>
      <div class="markdown">
        {read.blocks.map((token, index) => (
          <MarkdownBlock key={index} token={token} />
        ))}
        {read.rest !== '' && <div class="plain">{read.rest}</div>}
      </div>
    </FormulaBudget.Provider>
  );
}
