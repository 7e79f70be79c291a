/**
 * Where the code names endpoints and their kinds: the places to change for a new one. A key with no
 * other meaning (`transcriptions`) always counts. One with another meaning (`music`, `voice`)
 * counts if its value is compared with an endpoint, or used as one.
 */
import { ENDPOINT_KEYS, ENDPOINT_KINDS, SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import { lineOf, property, walk } from './source-file.js';
import type { Node, SourceFile } from './source-file.js';

/** Fields of requests and of models. */
const FIELDS = ['voice', 'voices'];
const OTHER_WORDS: ReadonlySet<string> = new Set([...ENDPOINT_KINDS, ...SERVICE_TYPES, ...FIELDS]);
const KEYS: ReadonlySet<string> = new Set(ENDPOINT_KEYS);
const PLAIN_KEYS: ReadonlySet<string> = new Set(
  ENDPOINT_KEYS.filter((key) => !OTHER_WORDS.has(key)),
);
const KINDS: ReadonlySet<string> = new Set(ENDPOINT_KINDS);
const TYPES: ReadonlySet<string> = new Set(SERVICE_TYPES);

/** Each place that names an endpoint by its key: `path:line key`. */
export function endpointNames(file: SourceFile): string[] {
  return placesOf(file, (node, parent) => {
    const key = literalOf(node) ?? nameOf(node, parent);
    if (key === null || !KEYS.has(key)) return null;
    if (PLAIN_KEYS.has(key)) return key;
    const isTold = nameOf(property(parent, 'key'), parent) === 'endpoint';
    return isTold || isComparedWith(/^endpoint$/, node, parent) ? key : null;
  });
}

/** Each branch on an endpoint's kind or type of model, which belongs into the tables of kinds. */
export function kindBranches(file: SourceFile): string[] {
  return placesOf(file, (node, parent) => {
    const word = literalOf(node);
    if (word === null) return null;
    if (TYPES.has(word) && isComparedWith(/^serviceType$|^service_type$/, node, parent))
      return word;
    return KINDS.has(word) && isOfEndpoint(node, parent) ? word : null;
  });
}

/** `ENDPOINTS[…].kind === 'images'`: answers and messages have kinds of the same names. */
function isOfEndpoint(node: Node, parent: Node | null): boolean {
  const other = otherSide(node, parent);
  const object = property(other, 'object');
  if (nameOf(property(other, 'property'), null) !== 'kind') return false;
  return nameOf(property(object, 'object'), null) === 'ENDPOINTS';
}

function isComparedWith(name: RegExp, node: Node, parent: Node | null): boolean {
  const other = otherSide(node, parent);
  const last = property(other, 'property') ?? other;
  return name.test(nameOf(last, null) ?? '');
}

/** Of a comparison or a case, what the literal is compared with. */
function otherSide(node: Node, parent: Node | null): unknown {
  if (parent === null) return null;
  if (parent.type === 'SwitchCase') return property(parent, 'discriminant');
  if (parent.type !== 'BinaryExpression') return null;
  const left = property(parent, 'left');
  return left === node ? property(parent, 'right') : left;
}

function placesOf(
  file: SourceFile,
  find: (node: Node, parent: Node | null) => string | null,
): string[] {
  const found: string[] = [];
  walk(file.tree, (node, ancestors) => {
    const word = find(node, withDiscriminant(ancestors));
    if (word !== null) found.push(`${file.path}:${lineOf(file, node.start)} ${word}`);
  });
  return found;
}

/** The parent node; a `case` refers to its `switch`. */
function withDiscriminant(ancestors: readonly Node[]): Node | null {
  const parent = ancestors.at(-1) ?? null;
  if (parent?.type !== 'SwitchCase') return parent;
  return { ...parent, discriminant: property(ancestors.at(-2), 'discriminant') } as Node;
}

function literalOf(node: Node): string | null {
  const value = node.type === 'Literal' ? property(node, 'value') : null;
  return typeof value === 'string' ? value : null;
}

/** Of a property that is written or read by name, or of a plain name. */
function nameOf(node: unknown, parent: Node | null): string | null {
  if (property(node, 'type') !== 'Identifier') return null;
  const name = property(node, 'name');
  const isProperty =
    parent === null || [property(parent, 'key'), property(parent, 'property')].includes(node);
  return isProperty && typeof name === 'string' ? name : null;
}
