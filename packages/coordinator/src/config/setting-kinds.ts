/** The kinds of settings: what may be written, and how it is read. */

export interface Setting<Value> {
  /** Upper case, without `GATEWAY_`. */
  readonly name: string;
  /** As it would be written; null where it is unset. */
  readonly default: string | null;
  /** What may be written, for people. */
  readonly allowed: string;
  readonly doc: string;
  /** True: what is written is repeated nowhere. */
  readonly secret?: true;
  /** Null where the text is none of the allowed ones. */
  readonly parse: (text: string) => Value | null;
}

interface Row {
  readonly name: string;
  readonly default: string | null;
  readonly doc: string;
}

interface NumberRow extends Row {
  /** Least and greatest, in the unit that is written. */
  readonly range: readonly [number, number];
}

export function text(row: Row): Setting<string> {
  return { ...row, allowed: 'a text that is not empty', parse: (written) => written || null };
}

export function whole(row: NumberRow): Setting<number> {
  const allowed = `a whole number from ${row.range[0]} to ${row.range[1]}`;
  const parse = (written: string): number | null => {
    const value = parseNumber(written, row.range);
    return Number.isInteger(value) ? value : null;
  };
  return { ...row, allowed, parse };
}

/** Written in seconds, kept in milliseconds. */
export function seconds(row: NumberRow): Setting<number> {
  return scaled(row, { unit: 'seconds', factor: 1_000 });
}

/** Written in MiB, kept in bytes. */
export function mebibytes(row: NumberRow): Setting<number> {
  return scaled(row, { unit: 'MiB', factor: 1024 * 1024 });
}

export function scaled(
  row: NumberRow,
  { unit, factor }: { readonly unit: string; readonly factor: number },
): Setting<number> {
  const allowed = `${row.range[0]} to ${row.range[1]} ${unit}`;
  const parse = (written: string): number | null => {
    const value = parseNumber(written, row.range);
    return value === null ? null : Math.round(value * factor);
  };
  return { ...row, allowed, parse };
}

/** Plain decimals only: `Number` would also read `0x10`, `1e3` and white space. */
function parseNumber(written: string, [least, greatest]: readonly [number, number]): number | null {
  if (!/^\d+(\.\d+)?$/.test(written)) return null;
  const value = Number(written);
  return value >= least && value <= greatest ? value : null;
}

export function parseOrigin(written: string): string | null {
  if (!/^https?:\/\//i.test(written) || !URL.canParse(written)) return null;
  const { origin, href } = new URL(written);
  return href === `${origin}/` ? origin : null;
}

export function yesOrNo(row: Row): Setting<boolean> {
  return { ...row, allowed: 'true or false', parse: parseYesOrNo };
}

function parseYesOrNo(written: string): boolean | null {
  if (written === 'true') return true;
  return written === 'false' ? false : null;
}
