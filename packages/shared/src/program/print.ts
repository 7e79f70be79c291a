/**
 * What commands print. stdout is data: an aligned table on a terminal, TSV without headers in a
 * pipe, JSON when asked for. stderr is talk.
 */

export type Cell = string | number | boolean | null | undefined;
export type Row = Readonly<Record<string, unknown>>;

/** A column: its heading and how a row's cell reads. */
export type Columns<R> = Readonly<Record<string, (row: R) => Cell>>;

/** Prints rows as a table or TSV, or the rows themselves as a JSON array. */
export function printRows<R>(rows: readonly R[], columns: Columns<R>, json: boolean): void {
  if (json) return printJson(rows);
  if (process.stdout.isTTY && rows.length === 0) return say('Nothing to list.');
  print((process.stdout.isTTY ? tableOf(rows, columns) : tsvOf(rows, columns)).join('\n'));
}

/** The lines of a table, headings first; columns of numbers end at one edge. */
export function tableOf<R>(rows: readonly R[], columns: Columns<R>): string[] {
  const aligned = Object.entries(columns).map(([heading, cell]) => {
    const cells = rows.map(cell);
    const texts = [heading.toUpperCase(), ...cells.map(text)];
    const width = Math.max(...texts.map(({ length }) => length));
    const isText = cells.some((one) => typeof one === 'string' || typeof one === 'boolean');
    return texts.map((one) => (isText ? one.padEnd(width) : one.padStart(width)));
  });
  return [null, ...rows].map((_, line) =>
    aligned
      .map((column) => column[line])
      .join('  ')
      .trimEnd(),
  );
}

function tsvOf<R>(rows: readonly R[], columns: Columns<R>): string[] {
  return rows.map((row) =>
    Object.values(columns)
      .map((cell) => text(cell(row)))
      .join('\t'),
  );
}

/** Prints one record as `name  value` lines, or as a JSON object. */
export function printRecord(record: Row, json: boolean): void {
  if (json) return printJson(record);
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  const lines = Object.entries(record).map(
    ([name, value]) => `${name.padEnd(width)}  ${valueText(value)}`,
  );
  print(lines.join('\n'));
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0));
}

/** Data, on stdout. */
export function print(line: string): void {
  if (line !== '') process.stdout.write(`${line}\n`);
}

/** Talk, on stderr. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A time as people read it; JSON has Unix milliseconds. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** How long ago, in one unit: `4 s`, `3 min`, `2 h`, `5 d`; `never` for null. */
export function ago(atMs: number | null, nowMs: number): string {
  if (atMs === null) return 'never';
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129_600
    ? `${Math.round(seconds / 3_600)} h`
    : `${Math.round(seconds / 86_400)} d`;
}

function valueText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : text(value as Cell);
}

function text(cell: Cell): string {
  if (cell === null || cell === undefined || cell === '') return '-';
  // A tab or line break in a value would break the table and whoever reads the TSV, and a name that
  // somebody else chose must not steer the terminal.
  return String(cell).replaceAll(/[\s\p{Cc}]+/gu, ' ');
}
