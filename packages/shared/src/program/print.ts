/**
 * Output of commands. stdout is data: an aligned table on a terminal, TSV without headers in a
 * pipe, JSON with `--json`. stderr is for messages.
 */
import { stripVTControlCharacters, styleText } from 'node:util';
import { pastText } from '../time-text.js';

export type Cell = string | number | boolean | null | undefined;

/** A column: its heading and the text of a cell. */
export type Columns<R> = Readonly<Record<string, (row: R) => Cell>>;

/** Rows nested in a record, which are printed below its other fields. */
interface Nested {
  readonly linesOf: (maxWidth: number) => readonly string[];
}

/**
 * Values of a printed record. Objects are excluded: each command formats them, so that no raw JSON
 * is printed.
 */
export type Fields = Readonly<Record<string, Cell | readonly Cell[] | Nested>>;

/** Prints rows as a table or TSV, or the rows themselves as a JSON array. */
export function printRows<R>(rows: readonly R[], columns: Columns<R>, json: boolean): void {
  if (json) return printJson(rows);
  const { isTTY } = process.stdout;
  if (isTTY && rows.length === 0) return say('Nothing to list.');
  print((isTTY ? tableOf(rows, columns, terminalWidth()) : tsvOf(rows, columns)).join('\n'));
}

const GAP = '  ';
/** Minimum width of a text column. */
const MIN_COLUMN_WIDTH = 12;
/** Headings of values that are copied or searched for: never shortened. */
const KEPT: ReadonlySet<string> = new Set(['id', 'code', 'prefix', 'state', 'status', 'fault']);
/** On a terminal times have minutes; in a pipe or a record they are complete. */
const ISO_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z$/;

/**
 * The lines of a table, headings first; numbers are right-aligned. If the table is wider than
 * `maxWidth`, empty columns are left out and long texts are shortened; if that is not enough, rows
 * and headings take several lines.
 */
export function tableOf<R>(
  rows: readonly R[],
  columns: Columns<R>,
  maxWidth = Number.POSITIVE_INFINITY,
): string[] {
  const texts = Object.entries(columns).map(([heading, cell]) => {
    const values = rows.map((row) => text(cell(row)).replace(ISO_TIME, '$1Z'));
    const cells = [heading.toUpperCase(), ...values];
    const width = Math.max(...cells.map(widthOf));
    return { heading, kind: kindOf(rows.map(cell)), cells, width };
  });
  const lines = linesOfColumns(texts, maxWidth);
  return [null, ...rows].flatMap((_, row) =>
    lines.map((line, at) => `${at === 0 ? '' : GAP}${lineOf(line, row)}`),
  );
}

interface TextColumn {
  readonly heading: string;
  readonly kind: 'text' | 'number' | 'time';
  /** The heading is the first. */
  readonly cells: readonly string[];
  readonly width: number;
}

function kindOf(cells: readonly Cell[]): TextColumn['kind'] {
  const texts = cells.filter((cell) => typeof cell === 'string' || typeof cell === 'boolean');
  if (texts.length === 0) return 'number';
  return texts.some((cell) => ISO_TIME.test(String(cell))) ? 'time' : 'text';
}

/** The columns of each line of a row: one line if they fit. */
function linesOfColumns(
  columns: readonly TextColumn[],
  maxWidth: number,
): readonly (readonly TextColumn[])[] {
  if (widthOfAll(columns) <= maxWidth) return [columns];
  const told = columns.filter(({ cells }) => cells.slice(1).some((cell) => cell !== text(null)));
  const shortened = shortenedTo(maxWidth, told);
  if (widthOfAll(shortened) <= maxWidth) return [shortened];
  const lines: TextColumn[][] = [[]];
  for (const column of told) {
    const indent = lines.length === 1 ? 0 : GAP.length;
    const fits = widthOfAll([...(lines.at(-1) ?? []), column]) <= maxWidth - indent;
    if (!fits) lines.push([]);
    const width = Math.min(column.width, maxWidth - GAP.length);
    lines.at(-1)?.push({ ...column, width });
  }
  return lines.filter((line) => line.length > 0);
}

function widthOfAll(columns: readonly TextColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1));
}

/** The widest texts are shortened first. Numbers are never shortened. */
function shortenedTo(maxWidth: number, columns: readonly TextColumn[]): readonly TextColumn[] {
  const widths = columns.map(({ width }) => width);
  const able = (at: number): number => {
    const { heading = '', kind } = columns[at] ?? {};
    const width = widths[at] ?? 0;
    return kind === 'text' && !KEPT.has(heading) && width > MIN_COLUMN_WIDTH ? width : 0;
  };
  for (let surplus = widthOfAll(columns) - maxWidth; surplus > 0; surplus--) {
    const widest = widths.reduce((best, _, at) => (able(at) > able(best) ? at : best), 0);
    if (able(widest) === 0) break;
    widths[widest] = able(widest) - 1;
  }
  return columns.map((column, at) => ({ ...column, width: widths[at] ?? 0 }));
}

function lineOf(columns: readonly TextColumn[], row: number): string {
  const cells = columns.map(({ heading, kind, cells: texts, width }) => {
    const shown = shortenCell(texts[row] ?? '', width);
    const room = ' '.repeat(width - widthOf(shown));
    const styled = row === 0 ? styleText('dim', shown) : colored(heading, shown);
    return kind === 'number' ? `${room}${styled}` : `${styled}${room}`;
  });
  return cells.join(GAP).trimEnd();
}

/** URLs of servers are shortened at the start, because their ends differ. */
function shortenCell(cell: string, maxWidth: number): string {
  if (!/^https?:/.test(cell) || cell.length <= maxWidth) return shorten(cell, maxWidth);
  return `…${cell.slice(1 - maxWidth)}`;
}

function tsvOf<R>(rows: readonly R[], columns: Columns<R>): string[] {
  const cells = Object.entries(columns);
  return rows.map((row) =>
    cells.map(([heading, cell]) => colored(heading, text(cell(row)))).join('\t'),
  );
}

/** Prints one record as `name  value` lines, followed by its nested rows. */
export function printRecord(record: Fields): void {
  const entries = Object.entries(record);
  const width = Math.max(...entries.map(([name, value]) => (isNested(value) ? 0 : name.length)));
  const line = (name: string, value: string): string =>
    `${styleText('dim', name)}${' '.repeat(Math.max(0, width - name.length))}${GAP}${value}`;
  const maxWidth = process.stdout.isTTY ? terminalWidth() : Number.POSITIVE_INFINITY;
  const [lines, below]: [string[], string[]] = [[], []];
  for (const [name, value] of entries) {
    const rows = isNested(value) ? value.linesOf(maxWidth - GAP.length) : null;
    if (rows === null) lines.push(line(name, fieldText(name, value as Cell)));
    else if (rows.length === 0) lines.push(line(name, '-'));
    else below.push(styleText('dim', name), ...rows.map((row) => `${GAP}${row}`));
  }
  print([...lines, ...below].join('\n'));
}

/** Rows for a record's field. */
export function nested<R>(rows: readonly R[], columns: Columns<R>): Nested {
  return { linesOf: (maxWidth) => (rows.length === 0 ? [] : tableOf(rows, columns, maxWidth)) };
}

function isNested(value: Fields[string]): value is Nested {
  return typeof value === 'object' && value !== null && 'linesOf' in value;
}

/** Fields with Unix milliseconds, and with bytes, by their names. */
const TIME_NAME = /(^|_)(at|before|until|since)$/;
const BYTES_NAME = /(^|_)bytes$/;

/** A value by the name of its field: times in ISO 8601, lists with commas. */
export function fieldText(name: string, value: Cell | readonly Cell[]): string {
  if (Array.isArray(value)) return text(value.map((one: Cell) => text(one)).join(', '));
  if (typeof value !== 'number') return colored(name, text(value as Cell));
  if (TIME_NAME.test(name)) return isoTime(value);
  if (BYTES_NAME.test(name) && value >= MIB) return `${value} (${bytesText(value)})`;
  return String(value);
}

const KIB = 1024;
const MIB = KIB ** 2;

/** For people: `512 bytes`, `3.2 MiB`. */
export function bytesText(bytes: number): string {
  const unit = Math.min(4, Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(KIB)));
  if (unit === 0) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return `${(bytes / KIB ** unit).toFixed(1)} ${['KiB', 'MiB', 'GiB', 'TiB'][unit - 1]}`;
}

/** Fields and columns with states, which are coloured. */
const COLORED: ReadonlySet<string> = new Set(['state', 'status', 'fault', 'connection', 'result']);
/** One style per call: Node 20 applies a list of styles even if the stream has no colours. */
const COLORS: Readonly<Record<string, 'green' | 'yellow' | 'red' | 'dim'>> = {
  online: 'green',
  up: 'green',
  active: 'green',
  open: 'green',
  running: 'green',
  PASS: 'green',
  PROCESSED: 'green',
  WARN: 'yellow',
  QUEUED: 'yellow',
  PROCESSING: 'yellow',
  connecting: 'yellow',
  starting: 'yellow',
  FAIL: 'red',
  FAILED: 'red',
  down: 'red',
  disabled: 'red',
  expired: 'red',
  revoked: 'red',
  missing: 'red',
  damaged: 'red',
  SKIP: 'dim',
  CANCELED: 'dim',
  offline: 'dim',
  used: 'dim',
};

/** Node checks whether stdout is a terminal, NO_COLOR and FORCE_COLOR. */
function colored(name: string, shown: string): string {
  if (!COLORED.has(name)) return shown;
  const color = COLORS[/^\w+/.exec(shown)?.[0] ?? ''];
  return color === undefined ? shown : styleText(color, shown);
}

/** A check's status on a terminal. */
export function statusText(status: string): string {
  return colored('status', status);
}

/** Width in columns; unlimited if it is unknown. */
export function terminalWidth(): number {
  const { columns } = process.stdout;
  return columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

export function printJson(value: unknown): void {
  print(harmlessJson(value, process.stdout.isTTY ? 2 : 0));
}

/** JSON.stringify escapes only C0: DEL, C1 and direction marks control terminals, too. */
export function harmlessJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(/[\x7f-\x9f\p{Bidi_Control}]/gu, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** For messages, which may contain text of others: removes control characters but line feeds. */
export function harmlessText(message: string): string {
  return message.replaceAll(/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu, ' ');
}

/** Data, on stdout. */
export function print(line: string): void {
  if (line !== '') process.stdout.write(`${line}\n`);
}

/** The error line of a failed command, for stderr. */
export function errorText(message: string): string {
  return `${styleText('red', 'error:', { stream: process.stderr })} ${harmlessText(message)}`;
}

/** Messages, on stderr. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A time for people; JSON has Unix milliseconds. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** How long ago, in one unit: `4 s`, `3 min`, `2 h`, `5 d`; `never` for null. */
export function ago(atMs: number | null, nowMs: number): string {
  return atMs === null ? 'never' : pastText(nowMs - atMs);
}

function text(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no';
  // A tab or line break in a value would break the table and the TSV, and a name chosen by another
  // user must not control the terminal or the text direction.
  return String(cell)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(/\p{Bidi_Control}+/gu, '');
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const NARROW = /^[\x20-\x7e]*$/;
/** Scripts with wide characters, without their halfwidth forms, and emoji. */
const WIDE_SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo', 'Yi'];
const WIDE = new RegExp(
  `[${WIDE_SCRIPTS.map((name) => `\\p{Script=${name}}`).join('')}` +
    String.raw`\p{Emoji_Presentation}\u3000-\u303e\u30fb\u30fc\uff01-\uff60\uffe0-\uffe6\ufe0f]`,
  'u',
);
const HALFWIDTH = /[\uff61-\uffdc]/u;
/** Only marks, joiners and the like. */
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

/** Width in columns, without colours. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(stripVTControlCharacters(text))) {
    width += graphemeWidth(segment);
  }
  return width;
}

/** Shortens the text to this many columns, with an ellipsis. */
export function shorten(text: string, maxWidth: number): string {
  if (widthOf(text) <= maxWidth) return text;
  let [shown, width] = ['', 0];
  for (const { segment } of graphemes.segment(text)) {
    width += graphemeWidth(segment);
    if (width > maxWidth - 1) break;
    shown += segment;
  }
  return `${shown.trimEnd()}…`;
}

/** Wraps a text between words at this many columns; a longer word has its own line. */
export function wrap(text: string, maxWidth: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || widthOf(longer) <= maxWidth) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function graphemeWidth(grapheme: string): number {
  if (INVISIBLE.test(grapheme)) return 0;
  return WIDE.test(grapheme) && !HALFWIDTH.test(grapheme) ? 2 : 1;
}

// Limits of a share, as they are typed.

/** `requests=5/100,tokens=50/50000`; without `used` the limits alone. */
export function usedLimits(written: string, used?: Readonly<Record<string, number>>): string {
  if (used === undefined) return written;
  const limits = written.split(',').map((part) => part.split('='));
  return limits.map(([unit = '', limit]) => `${unit}=${used[unit] ?? 0}/${limit}`).join(',');
}
