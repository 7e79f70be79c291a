/** Tables as files: CSV (RFC 4180) and JSON. */

type CsvCell = string | number | boolean | null;

export function toCsv(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/**
 * Rows of the API, with a column for each of their fields. Fields that are lists or objects are
 * written as JSON.
 */
export function recordsToCsv(records: readonly object[]): string {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const rows = records.map((record) => {
    const values = new Map<string, unknown>(Object.entries(record));
    return names.map((name) => plain(values.get(name)));
  });
  return toCsv([names, ...rows]);
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
