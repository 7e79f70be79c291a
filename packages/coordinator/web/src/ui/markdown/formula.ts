/** Draws formulas of models with KaTeX, as elements. It is loaded with the first formula. */
import { render } from 'katex';
import 'katex/dist/katex.min.css';

/** Longer formulas are shown as they came. */
const MAX_FORMULA_CHARACTERS = 2_000;
/** Of braces and `\left`. Each level is several elements within each other. */
const MAX_DEPTH = 40;
/** Separators of cells: a cell is fifteen elements. */
const MAX_CELLS = 200;
/** Expansions of macros: a formula can define macros that double. */
const MAX_EXPANSIONS = 200;
/** Of spaces, rules and lines, in the size of the text. */
const MAX_SIZE_EM = 20;

/** Returns whether it was drawn. Otherwise the element is empty. */
export function drawFormula(element: HTMLElement, text: string, isBlock: boolean): boolean {
  if (!isSmall(text)) return false;
  try {
    render(text, element, {
      displayMode: isBlock,
      // No commands that make links, load pictures, or set classes and styles.
      trust: false,
      strict: 'ignore',
      throwOnError: true,
      errorColor: 'currentColor',
      maxExpand: MAX_EXPANSIONS,
      maxSize: MAX_SIZE_EM,
      macros: { ...WITHOUT_STYLE },
    });
    return true;
  } catch {
    element.replaceChildren();
    return false;
  }
}

/**
 * KaTeX writes `style` attributes into the MathML of these two, which the page's policy blocks and
 * reports: they are drawn without colour and shadow.
 */
const WITHOUT_STYLE = {
  '\\fcolorbox': String.raw`\@firstoftwo{\fbox{#3}}{#1#2}`,
  '\\pmb': String.raw`\boldsymbol{#1}`,
};

function isSmall(text: string): boolean {
  if (text.length > MAX_FORMULA_CHARACTERS || depthOf(text) > MAX_DEPTH) return false;
  return text.split('&').length - 1 <= MAX_CELLS;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [found] of text.matchAll(/\\left(?![a-z])|\\right(?![a-z])|\\[^]|[{}]/g)) {
    if (found === '{' || found === '\\left') deepest = Math.max(deepest, ++depth);
    else if (found === '}' || found === '\\right') depth--;
  }
  return deepest;
}
