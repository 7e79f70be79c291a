/**
 * The placeholders of a workflow that a request fills: `{{prompt}}`, or `{{steps:20}}` with a
 * default value. Only the inputs of nodes are searched, so a caller never names a node.
 */
import { didYouMean } from '@inference-gateway/shared/nearest';
import { asObject, parseJson } from '../../openai-wire/json.js';

export type Graph = Readonly<Record<string, unknown>>;

/** What the value is: a text, a number, or the name of an uploaded picture. */
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
  /** As the owner wrote it; one of `PLACEHOLDERS` if the workflow is valid. */
  readonly name: string;
  readonly fallback: string | null;
}

export function isPlaceholderName(name: string): name is PlaceholderName {
  return Object.hasOwn(PLACEHOLDERS, name);
}

/** All placeholders of a graph, in their order. */
export function placeholdersOf(graph: Graph): Placeholder[] {
  const found: Placeholder[] = [];
  mapInputs(graph, (text) => {
    for (const match of text.matchAll(PATTERN)) found.push(read(match));
    return text;
  });
  return found;
}

/**
 * The graph with every placeholder replaced once: placeholders in a caller's text are not replaced.
 * A placeholder that is the whole input becomes a value of its own type.
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

// Whether a file holds a workflow that can run for callers, and if not, what its owner can do.

export type ReadGraph =
  | { readonly kind: 'graph'; readonly graph: Graph }
  /** Each follows the file's name in the message. */
  | { readonly kind: 'faulty'; readonly faults: readonly string[] };

export function readGraph(text: string): ReadGraph {
  const graph = asObject(parseJson(text));
  if (graph === null) return faulty('is no JSON object: export the workflow again');
  const fault = formFault(graph);
  if (fault !== null) return faulty(fault);
  const faults = placeFaults(placeholdersOf(graph));
  return faults.length === 0 ? { kind: 'graph', graph } : faulty(...faults);
}

function faulty(...faults: readonly string[]): ReadGraph {
  return { kind: 'faulty', faults };
}

/** ComfyUI saves two file formats; its API takes only one of them. */
function formFault(graph: Graph): string | null {
  if (Array.isArray(graph['nodes'])) {
    const how = 'File > Export (API), in older versions Save (API Format)';
    return `is a workflow for ComfyUI's editor: save it with ${how}`;
  }
  const entries = Object.entries(graph);
  if (entries.length === 0) return 'has no nodes: export the workflow again';
  const odd = entries.find(([, node]) => !isNode(node))?.[0];
  return odd === undefined ? null : `"${odd}" is no node with class_type and inputs`;
}

function isNode(node: unknown): boolean {
  const { class_type: type, inputs } = asObject(node) ?? {};
  return typeof type === 'string' && asObject(inputs) !== null;
}

/** Each once. */
function placeFaults(places: readonly Placeholder[]): string[] {
  const isPrompted = places.some(({ name }) => name === 'prompt');
  const missing = isPrompted ? [] : ['has no {{prompt}}: put it where the caller’s text belongs'];
  return [...new Set([...places.flatMap(placeFault), ...missing])];
}

function placeFault({ name, fallback }: Placeholder): string[] {
  const known = Object.keys(PLACEHOLDERS);
  if (!isPlaceholderName(name)) {
    const hint = didYouMean(name, known) ?? `known are ${known.join(', ')}`;
    return [`has the unknown placeholder {{${name}}}: ${hint}`];
  }
  if (PLACEHOLDERS[name] !== 'number' || fallback === null) return [];
  const isNumber = fallback !== '' && Number.isFinite(Number(fallback));
  return isNumber ? [] : [`has {{${name}:${fallback}}}: its default must be a number`];
}
