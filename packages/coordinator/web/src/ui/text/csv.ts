/** Tables as files: CSV (RFC 4180) and JSON. */

type CsvCell = string | number | boolean | null;

export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** A file of rows of the API. They may come in parts: only their text is kept. */
export interface RowsFile {
  readonly ending: string;
  readonly type: string;
  add(records: readonly object[]): void;
  /** In parts, which follow each other. */
  text(): readonly string[];
}

/** A column for each field of any row. Fields that are lists or objects are written as JSON. */
export class CsvFile implements RowsFile {
  readonly ending = 'csv';
  readonly type = 'text/csv';
  readonly #names = new Set<string>();
  readonly #lines: { readonly text: string; readonly cells: number }[] = [];

  add(records: readonly object[]): void {
    for (const record of records) {
      const values = new Map<string, unknown>(Object.entries(record));
      for (const name of values.keys()) this.#names.add(name);
      const cells = [...this.#names].map((name) => cell(plain(values.get(name))));
      this.#lines.push({ text: cells.join(','), cells: cells.length });
    }
  }

  /** Later rows may have had further fields. */
  text(): readonly string[] {
    const width = this.#names.size;
    const head = toCsv([[...this.#names]]);
    return [head, ...this.#lines.map((row) => `${row.text}${','.repeat(width - row.cells)}\r\n`)];
  }
}

/** A list of objects. */
export class JsonFile implements RowsFile {
  readonly ending = 'json';
  readonly type = 'application/json';
  readonly #rows: string[] = [];

  add(records: readonly object[]): void {
    for (const record of records) {
      const comma = this.#rows.length === 0 ? '' : ',';
      const text = JSON.stringify(record, null, 2).replaceAll('\n', '\n  ');
      this.#rows.push(`${comma}\n  ${text}`);
    }
  }

  text(): readonly string[] {
    return this.#rows.length === 0 ? ['[]\n'] : ['[', ...this.#rows, '\n]\n'];
  }
}

function plain(value: unknown): CsvCell {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  return JSON.stringify(value);
}

/**
 * Spreadsheets evaluate a text that begins like a formula, and a model can have any name: a leading
 * quote keeps it text.
 */
function cell(value: CsvCell): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
