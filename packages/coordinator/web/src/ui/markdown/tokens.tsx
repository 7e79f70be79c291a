/** Markdown tokens as elements. No HTML is inserted: HTML tokens are shown as text. */
import { Component, Fragment } from 'preact';
import type { ComponentChildren } from 'preact';
import type { Token, Tokens } from 'marked';
import type { MarkdownToken } from './growing.js';
import { CodeBlock, Formula } from './rich.js';

/** Deeper nesting, such as lists in quotes in lists, is shown as it came. */
const MAX_DEPTH = 12;
const SAFE_ADDRESS = /^(https?:\/\/|mailto:)/i;

/** Rendered again only if its token is another object. */
export class MarkdownBlock extends Component<{ readonly token: MarkdownToken }> {
  override shouldComponentUpdate(next: { readonly token: MarkdownToken }): boolean {
    return next.token !== this.props.token;
  }

  override render(): ComponentChildren {
    const { token } = this.props;
    // A top-level text token is text that the lexer was not given.
    return token.type === 'text' ? <p class="plain">{token.text}</p> : draw(token, 0);
  }
}

function drawAll(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  // The lexer's type allows tokens of any extension; the one for formulas is installed.
  const known = (tokens ?? []) as readonly MarkdownToken[];
  return known.map((token, index) => <Fragment key={index}>{draw(token, depth)}</Fragment>);
}

function draw(token: MarkdownToken, depth: number): ComponentChildren {
  if (depth > MAX_DEPTH) return token.raw;
  switch (token.type) {
    case 'heading':
      // Not an `h1` to `h6`: a model's headings look like headings, but are not part of the page's
      // outline.
      return <p class={`heading h${token.depth}`}>{drawAll(token.tokens, depth + 1)}</p>;
    case 'paragraph':
      return <p>{drawAll(token.tokens, depth + 1)}</p>;
    case 'blockquote':
      return <blockquote>{drawAll(token.tokens, depth + 1)}</blockquote>;
    case 'list':
      return <List list={token} depth={depth + 1} />;
    case 'code':
      return <CodeBlock text={token.text} language={token.lang?.split(/\s/, 1)[0] ?? ''} />;
    case 'math':
      return <Formula text={token.text} raw={token.raw} isBlock={token.isBlock} />;
    case 'table':
      return <MarkdownTable table={token} depth={depth + 1} />;
    case 'hr':
      return <hr />;
    case 'space':
    case 'def':
      return null;
    case 'html':
      return 'block' in token && token.block ? <p>{token.text}</p> : token.text;
    default:
      return drawInline(token, depth);
  }
}

type BlockType =
  | 'heading'
  | 'paragraph'
  | 'blockquote'
  | 'list'
  | 'code'
  | 'math'
  | 'table'
  | 'hr'
  | 'space'
  | 'def'
  | 'html';

function drawInline(
  token: Exclude<MarkdownToken, { type: BlockType }>,
  depth: number,
): ComponentChildren {
  switch (token.type) {
    case 'strong':
      return <strong>{drawAll(token.tokens, depth + 1)}</strong>;
    case 'em':
      return <em>{drawAll(token.tokens, depth + 1)}</em>;
    case 'del':
      return <del>{drawAll(token.tokens, depth + 1)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Outside href={token.href}>{drawAll(token.tokens, depth + 1)}</Outside>;
    case 'image':
      // Shown as a link: loading the image would tell another server who reads this, and when.
      return <Outside href={token.href}>{token.text || token.href}</Outside>;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'list_item':
      return drawAll(token.tokens, depth + 1);
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens === undefined ? withCharacters(token.text) : drawAll(token.tokens, depth);
  }
}

function List({ list, depth }: { readonly list: Tokens.List; readonly depth: number }) {
  const items = list.items.map((item, index) => <li key={index}>{drawAll(item.tokens, depth)}</li>);
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol {...(typeof list.start === 'number' && { start: list.start })}>{items}</ol>;
}

function MarkdownTable({ table, depth }: { readonly table: Tokens.Table; readonly depth: number }) {
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table class="table">
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} scope="col" {...aligned(cell)}>
                {drawAll(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, at) => (
                <td key={at} {...aligned(cell)}>
                  {drawAll(cell.tokens, depth)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** By a class, because the page's policy allows no `style` attributes. */
function aligned({ align }: Tokens.TableCell): { readonly class?: string } {
  return align === null ? {} : { class: `align-${align}` };
}

interface OutsideProps {
  readonly href: string;
  readonly children: ComponentChildren;
}

/** Only http, https and mailto addresses become links; others are shown as text. */
function Outside({ href, children }: OutsideProps) {
  if (!SAFE_ADDRESS.test(href)) return <span title={href}>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}

const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
};

/**
 * Decodes the entities that models write. They become text: a decoded `<` is not parsed as HTML.
 */
function withCharacters(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|nbsp|#39);/g, (name) => CHARACTERS[name] ?? name);
}
