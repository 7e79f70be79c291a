/**
 * The places of a workflow that a request may fill: `{{prompt}}`, or `{{steps:20}}` with what
 * stands there when the caller says nothing. Only the inputs of nodes are looked at, so a caller
 * never names a node.
 */
import { asObject } from '../../openai-wire/json.js';

export type Graph = Readonly<Record<string, unknown>>;

/** What is put there: a text, a number, or the name of a picture that was uploaded. */
export const PLACEHOLDERS = {
  prompt: 'text',
  negative_prompt: 'text',
  lyrics: 'text',
  seed: 'number',
  n: 'number',
  width: 'number',
  height: 'number',
  steps: 'number',
  cfg: 'number',
  denoise: 'number',
  seconds: 'number',
  fps: 'number',
  frames: 'number',
  image: 'picture',
  image_2: 'picture',
  image_3: 'picture',
  mask: 'picture',
} as const;

export type PlaceholderName = keyof typeof PLACEHOLDERS;
export type Value = string | number;

export interface Placeholder {
  /** As the owner wrote it; one of `PLACEHOLDERS` where the workflow is right. */
  readonly name: string;
  readonly fallback: string | null;
}

export function isPlaceholderName(name: string): name is PlaceholderName {
  return Object.hasOwn(PLACEHOLDERS, name);
}

/** All of a graph, in the order in which they stand there. */
export function placeholdersOf(graph: Graph): Placeholder[] {
  const found: Placeholder[] = [];
  mapInputs(graph, (text) => {
    for (const match of text.matchAll(PATTERN)) found.push(read(match));
    return text;
  });
  return found;
}

/**
 * The graph with every placeholder replaced, each once: what a caller writes is not read again. One
 * that stands alone becomes a value of its own kind.
 */
export function fillGraph(
  graph: Graph,
  valueOf: (placeholder: Placeholder) => Value,
): Record<string, unknown> {
  return mapInputs(graph, (text) => {
    const alone = WHOLE.exec(text);
    if (alone !== null) return valueOf(read(alone));
    return text.replaceAll(PATTERN, (...match) => String(valueOf(read(match))));
  });
}

const PLACE = String.raw`\{\{\s*(\w+)\s*(?::([^{}]*))?\}\}`;
const PATTERN = new RegExp(PLACE, 'g');
const WHOLE = new RegExp(`^${PLACE}$`);
/** A graph's inputs are values, links and short lists. */
const MAX_DEPTH = 16;

function read([, name, fallback]: readonly unknown[]): Placeholder {
  return { name: String(name), fallback: typeof fallback === 'string' ? fallback.trim() : null };
}

type Change = (text: string) => Value;

function mapInputs(graph: Graph, change: Change): Record<string, unknown> {
  const nodes = Object.entries(graph).map(([id, node]) => {
    const inputs = asObject(asObject(node)?.['inputs']);
    const changed = inputs === null ? null : mapValue(inputs, change, MAX_DEPTH);
    return [id, changed === null ? node : { ...asObject(node), inputs: changed }] as const;
  });
  return Object.fromEntries(nodes);
}

function mapValue(value: unknown, change: Change, depth: number): unknown {
  if (typeof value === 'string') return change(value);
  if (depth === 0) return value;
  if (Array.isArray(value)) return value.map((item) => mapValue(item, change, depth - 1));
  const object = asObject(value);
  if (object === null) return value;
  const entries = Object.entries(object);
  return Object.fromEntries(entries.map(([key, item]) => [key, mapValue(item, change, depth - 1)]));
}
