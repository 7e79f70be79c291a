/** The kinds of settings: permitted values, and their parsing. */
import { isLoopback } from '@inference-gateway/shared/loopback';

export interface Setting<Value = unknown, Default = string | null> {
  /** Upper case, without `GATEWAY_`. */
  readonly name: string;
  /** The default as text; null if there is none. */
  readonly default: Default;
  /** The permitted values, for people. */
  readonly allowed: string;
  readonly doc: string;
  /** True: a secret, which is never printed. */
  readonly secret?: true;
  /** Null if the text is no permitted value. */
  readonly parse: (text: string) => Value | null;
  /** For a text that is not permitted: the text, without secrets, and what is wrong with it. */
  readonly explain?: (text: string) => string;
}

interface Row {
  readonly name: string;
  readonly default: string | null;
  readonly doc: string;
}

interface NumberRow extends Row {
  /** Minimum and maximum, in the unit of the text. */
  readonly range: readonly [number, number];
}

export function text<const R extends Row>(row: R): Setting<string, R['default']> {
  return { ...row, allowed: 'a text that is not empty', parse: (written) => written || null };
}

export function whole<const R extends NumberRow>(row: R): Setting<number, R['default']> {
  const allowed = `a whole number from ${row.range[0]} to ${row.range[1]}`;
  const parse = (written: string): number | null => {
    const value = parseNumber(written, row.range);
    return Number.isInteger(value) ? value : null;
  };
  return { ...row, allowed, parse };
}

/** Written in seconds, kept in milliseconds. */
export function seconds<const R extends NumberRow>(row: R): Setting<number, R['default']> {
  return scaled(row, { unit: 'seconds', factor: 1_000 });
}

/** Written in MiB, kept in bytes. */
export function mebibytes<const R extends NumberRow>(row: R): Setting<number, R['default']> {
  return scaled(row, { unit: 'MiB', factor: 1024 * 1024 });
}

export function scaled<const R extends NumberRow>(
  row: R,
  { unit, factor }: { readonly unit: string; readonly factor: number },
): Setting<number, R['default']> {
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

export function parseCredential(written: string): string | null {
  return /^[\x21-\x7e]{1,512}$/.test(written) ? written : null;
}

export function parseOrigin(written: string): string | null {
  if (!/^https?:\/\//i.test(written) || !URL.canParse(written)) return null;
  const { origin, href } = new URL(written);
  return href === `${origin}/` ? origin : null;
}

export function parseNodeUrl(written: string): string | null {
  if (!URL.canParse(written)) return null;
  const { protocol, host, pathname, username, search, hash } = new URL(written);
  const isPlain = pathname === '/' && `${username}${search}${hash}` === '';
  return protocol === 'wss:' && isPlain ? `wss://${host}` : null;
}

export function yesOrNo<const R extends Row>(row: R): Setting<boolean, R['default']> {
  return { ...row, allowed: 'true or false', parse: parseYesOrNo };
}

function parseYesOrNo(written: string): boolean | null {
  if (written === 'true') return true;
  return written === 'false' ? false : null;
}

/** An address that a browser is sent to: https, or http to this machine. */
export function parseIssuer(written: string): string | null {
  if (!URL.canParse(written)) return null;
  const { protocol, hostname, username, search, hash } = new URL(written);
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSafe && `${username}${search}${hash}` === '' ? written : null;
}

/** Of e-mail addresses: `example.org, example.com`. */
export function parseDomains(written: string): readonly string[] | null {
  const domains = written.split(',').map((one) => one.trim().toLowerCase());
  return domains.every((one) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(one)) ? domains : null;
}
