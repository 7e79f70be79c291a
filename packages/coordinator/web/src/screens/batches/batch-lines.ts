/**
 * Parses JSON Lines into the requests of a batch, in the gateway's own form or that of OpenAI's
 * batch files.
 */

/** The specification's limit. */
export const MAX_ITEMS = 256;

interface BatchItem {
  readonly endpoint: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export type ReadLines =
  | {
      readonly kind: 'read';
      readonly items: readonly BatchItem[];
      /** The line number of each item, from 1; empty lines count. */
      readonly lineNumbers: readonly number[];
      /** True if any line has a `custom_id`, which the gateway does not keep. */
      readonly hasCustomIds: boolean;
    }
  | { readonly kind: 'wrong'; readonly message: string };

export function readBatchLines(text: string): ReadLines {
  const lines = text
    .split('\n')
    .map((line, index) => ({ written: line.trim(), number: index + 1 }))
    .filter(({ written }) => written !== '');
  if (lines.length === 0) return wrong('There is no line with a request yet.');
  if (lines.length > MAX_ITEMS) {
    return wrong(`There are ${lines.length} requests; a batch has at most ${MAX_ITEMS}. Split it.`);
  }
  const items: BatchItem[] = [];
  let hasCustomIds = false;
  for (const { written, number } of lines) {
    const line = readLine(written);
    if (typeof line === 'string') return wrong(`Line ${number}: ${line}`);
    items.push(line.item);
    hasCustomIds ||= line.hasCustomId;
  }
  return { kind: 'read', items, lineNumbers: lines.map(({ number }) => number), hasCustomIds };
}

function wrong(message: string): ReadLines {
  return { kind: 'wrong', message };
}

interface Line {
  readonly item: BatchItem;
  readonly hasCustomId: boolean;
}

/** Returns a sentence about the problem if the line is invalid. */
function readLine(written: string): Line | string {
  const line = parseObject(written);
  if (line === null) return 'it is not a JSON object. Write each request on its own line.';
  const endpoint = line['endpoint'] ?? line['url'];
  if (typeof endpoint !== 'string') return 'it has neither endpoint nor url.';
  if (line['method'] !== undefined && line['method'] !== 'POST') return 'its method is not POST.';
  const { body } = line;
  if (!isObject(body)) return 'its body is not an object.';
  return { item: { endpoint, body }, hasCustomId: line['custom_id'] !== undefined };
}

function parseObject(written: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(written);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The line of the field that the coordinator names, such as `requests[17].body.model`. */
export function lineOf(param: string | null, lineNumbers: readonly number[]): number | null {
  const [, index] = /^requests\[(\d+)\]/.exec(param ?? '') ?? [];
  return index === undefined ? null : (lineNumbers[Number(index)] ?? null);
}
