/**
 * JSON of requests whose large members are not parsed again. They are kept as bytes between two
 * line feeds, which our JSON contains nowhere else: changing a field of such a body parses only the
 * rest, some kilobytes instead of megabytes of messages.
 */
/** A member of a body, or an item of an array member, as JSON. */
export class RawJson {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export type SparseBody = Readonly<Record<string, unknown>>;

const LINE_FEED = 0x0a;
/** Characters of a member's JSON that are kept as a value. */
const MAX_VALUE_CHARACTERS = 4_096;
/** The same for all members of a body together. */
const MAX_VALUES_CHARACTERS = 65_536;

/** The body with its large members as bytes; members in `kept` always stay values. */
export function toSparse(body: SparseBody, kept: ReadonlySet<string>): SparseBody {
  let left = MAX_VALUES_CHARACTERS;
  const sparse = (value: unknown): unknown => {
    const json = JSON.stringify(value);
    if (json.length <= Math.min(MAX_VALUE_CHARACTERS, left)) {
      left -= json.length;
      return value;
    }
    return new RawJson(Buffer.from(json));
  };
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => {
    if (value === undefined || kept.has(name)) return [name, value];
    // Prompts are counted when a body is capped.
    if (name === 'prompt' && isTexts(value)) return [name, value.map(sparse)];
    return [name, sparse(value)];
  });
  return Object.fromEntries(entries);
}

/** An array of strings, or of arrays of token ids. */
function isTexts(value: unknown): value is unknown[] {
  return Array.isArray(value) && typeof value[0] !== 'number';
}

/** An unchanged body is not serialized again. */
const WRITTEN = new WeakMap<SparseBody, Buffer>();

/** The serialized body, which is immutable. */
export function sparseBody(bytes: Uint8Array): SparseBody {
  const body = Object.freeze(readSparse(bytes));
  WRITTEN.set(body, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return body;
}

export function writeSparse(body: SparseBody): Buffer {
  const written = WRITTEN.get(body);
  if (written !== undefined) return written;
  if (!Object.values(body).some(holdsRaw)) return Buffer.from(JSON.stringify(body));
  const pieces: Uint8Array[] = [];
  let text = '';
  const write = (value: unknown): void => {
    if (value instanceof RawJson) {
      pieces.push(Buffer.from(`${text}\n`), value.bytes);
      text = '\n';
    } else text += JSON.stringify(value);
  };
  let separator = '{';
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined) continue;
    text += `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    if (Array.isArray(value) && holdsRaw(value)) {
      for (const [index, item] of value.entries()) {
        text += index === 0 ? '[' : ',';
        write(item);
      }
      text += ']';
    } else write(value);
  }
  return Buffer.concat([...pieces, Buffer.from(`${text}}`)]);
}

function holdsRaw(value: unknown): boolean {
  return (
    value instanceof RawJson ||
    (Array.isArray(value) && value.some((one) => one instanceof RawJson))
  );
}

/**
 * Replaces a raw member while the rest is parsed. It is parsed as Infinity, which `JSON.stringify`
 * writes as null, so that our bodies contain no other.
 */
const PLACE = '1e999';

/** The body of serialized bytes; its raw members share the memory of `bytes`. */
export function readSparse(bytes: Uint8Array): Record<string, unknown> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const raws: RawJson[] = [];
  let text = '';
  let from = 0;
  for (let open = all.indexOf(LINE_FEED); open !== -1; open = all.indexOf(LINE_FEED, from)) {
    const close = all.indexOf(LINE_FEED, open + 1);
    text += all.toString('utf8', from, open) + PLACE;
    raws.push(new RawJson(all.subarray(open + 1, close)));
    from = close + 1;
  }
  const body = JSON.parse(text + all.toString('utf8', from)) as Record<string, unknown>;
  if (raws.length === 0) return body;
  // Names have the same order as when they were written.
  let next = 0;
  const restored = (value: unknown): unknown => (value === Infinity ? raws[next++] : value);
  const entries = Object.entries(body).map(([name, value]): [string, unknown] => [
    name,
    Array.isArray(value) ? value.map(restored) : restored(value),
  ]);
  return Object.fromEntries(entries);
}
