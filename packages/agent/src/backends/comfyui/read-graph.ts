/** Whether a file holds a workflow that can be run for callers, and if not, what its owner does. */
import { didYouMean } from '@inference-gateway/shared/nearest';
import { asObject, parseJson } from '../../openai-wire/json.js';
import { isPlaceholderName, PLACEHOLDERS, placeholdersOf } from './placeholders.js';
import type { Graph, Placeholder } from './placeholders.js';

export type ReadGraph =
  | { readonly kind: 'graph'; readonly graph: Graph }
  /** Each to follow the file's name. */
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

/** ComfyUI saves two kinds of files, and its API takes one of them. */
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
