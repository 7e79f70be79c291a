/** Highlighted code and formulas of a model. Both show their source until they are drawn. */
import { createContext } from 'preact';
import { useContext, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Code } from '../text/code.js';
import type { Piece } from './highlight.js';
import { LazyModule, useModule } from './lazy-module.js';

const highlighter = new LazyModule(() => import('./highlight.js'));
const typesetter = new LazyModule(() => import('./formula.js'));

/** Longer blocks are not highlighted: a block is read again with each token that arrives. */
const MAX_HIGHLIGHTED_CHARACTERS = 20_000;

interface CodeBlockProps {
  readonly text: string;
  /** As the model names it; empty if it names none. */
  readonly language: string;
}

export function CodeBlock({ text, language }: CodeBlockProps) {
  const isWanted = language !== '' && text.length <= MAX_HIGHLIGHTED_CHARACTERS;
  const module = useModule(highlighter, isWanted);
  const pieces = useMemo(
    () => (isWanted ? (module?.highlight(text, language) ?? null) : null),
    [module, text, language, isWanted],
  );
  const label = `Copy the ${language === '' ? 'code' : `${language} code`}`;
  return (
    <Code text={text} label={label}>
      {pieces?.map((piece, index) => (
        <PieceView key={index} piece={piece} />
      ))}
    </Code>
  );
}

function PieceView({ piece }: { readonly piece: Piece }) {
  if (typeof piece === 'string') return <>{piece}</>;
  return (
    <span class={piece.names}>
      {piece.pieces.map((one, index) => (
        <PieceView key={index} piece={one} />
      ))}
    </span>
  );
}

/**
 * Of all formulas of one text; further ones are shown as they came. A character is up to four
 * elements and 0.2 ms.
 */
export const MAX_TEX_CHARACTERS = 10_000;

/** How many characters of formulas may still be drawn. */
export const FormulaBudget = createContext({ characters: MAX_TEX_CHARACTERS });

interface FormulaProps {
  /** TeX, without its delimiters. */
  readonly text: string;
  /** With its delimiters, as the model wrote it. */
  readonly raw: string;
  readonly isBlock: boolean;
}

export function Formula({ text, raw, isBlock }: FormulaProps) {
  const budget = useContext(FormulaBudget);
  const [isAllowed] = useState(() => (budget.characters -= text.length) >= 0);
  const module = useModule(typesetter, isAllowed);
  const [isDrawn, setDrawn] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (module !== null && place.current !== null) {
      setDrawn(module.drawFormula(place.current, text, isBlock));
    }
  }, [module, text, isBlock]);
  const name = isBlock ? 'formula block' : 'formula';
  return (
    <span class={name} {...(isBlock && { tabIndex: 0, role: 'group', 'aria-label': 'Formula' })}>
      {/* Its content is drawn by the typesetter, and is no content of this component. */}
      <span ref={place} hidden={!isDrawn} />
      {!isDrawn && <code>{raw}</code>}
    </span>
  );
}
