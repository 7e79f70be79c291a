/** Writes a JSON value as source code. */
import { quoted } from './hidden.js';

export interface Dialect {
  readonly truth: readonly [no: string, yes: string];
  readonly nothing: string;
  /** Of one level. */
  readonly indent: string;
  /** Braces of an object on one line. */
  readonly braces: readonly [open: string, close: string];
  /** After the last of several lines. */
  readonly lastComma: ',' | '';
  /** Writes a field's name. */
  readonly name: (name: string) => string;
}

/** Shorter lists and objects stay on one line. */
const MAX_LINE = 72;

/** `depth`: the nesting level of the value. */
export function literal(value: unknown, dialect: Dialect, depth = 0): string {
  if (value === null || value === undefined) return dialect.nothing;
  if (typeof value === 'boolean') return dialect.truth[value ? 1 : 0];
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, dialect, depth + 1));
    return wrap({ items, around: ['[', ']'] }, dialect, depth);
  }
  if (typeof value === 'object') {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    const items = fields.map(
      ([name, field]) => `${dialect.name(name)}: ${literal(field, dialect, depth + 1)}`,
    );
    return wrap({ items, around: dialect.braces }, dialect, depth);
  }
  // Strings and numbers are written the same way in JSON, Python and JavaScript.
  return typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}

interface Parts {
  readonly items: readonly string[];
  readonly around: readonly [open: string, close: string];
}

function wrap({ items, around: [open, close] }: Parts, dialect: Dialect, depth: number): string {
  const { indent, lastComma } = dialect;
  if (items.length === 0) return `${open.trim()}${close.trim()}`;
  const line = `${open}${items.join(', ')}${close}`;
  if (line.length + depth * indent.length <= MAX_LINE && !line.includes('\n')) return line;
  const inner = `\n${indent.repeat(depth + 1)}`;
  const lines = items.join(`,${inner}`);
  return `${open.trim()}${inner}${lines}${lastComma}\n${indent.repeat(depth)}${close.trim()}`;
}

export const PYTHON: Dialect = {
  truth: ['False', 'True'],
  nothing: 'None',
  indent: '    ',
  braces: ['{', '}'],
  lastComma: ',',
  name: quoted,
};

export const NODE: Dialect = {
  truth: ['false', 'true'],
  nothing: 'null',
  indent: '  ',
  braces: ['{ ', ' }'],
  lastComma: ',',
  name: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)),
};

export const JSON_TEXT: Dialect = {
  truth: ['false', 'true'],
  nothing: 'null',
  indent: '  ',
  braces: ['{ ', ' }'],
  lastComma: '',
  name: quoted,
};
