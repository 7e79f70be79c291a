/** Checks real answers against `GET /openapi.json`. */
import { CALL_KINDS } from '@inference-gateway/coordinator/http/inference/kinds';
import { createDocument } from '@inference-gateway/coordinator/openapi/document';
import type {
  Answer,
  Header,
  Method,
  Operation,
  OpenApiDocument,
  Reference,
} from '@inference-gateway/coordinator/openapi/open-api';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'vitest';

export const DOCUMENT: OpenApiDocument = createDocument('http://gateway', CALL_KINDS);

const ROOT = 'openapi';
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(DOCUMENT, ROOT);

/** The gateway's own headers, not those that any server sends. */
const OUR_HEADER = /^(x-(?!accel-buffering|content-type-options)|retry-|idempotency-)/;

/**
 * Fails unless the document has this path, method, status, content type, body and headers. `path`
 * is the called one; the caller can still read the answer afterwards.
 */
export async function expectDocumented(
  path: string,
  method: string,
  response: Response,
): Promise<void> {
  const { pathname } = new URL(path, 'http://gateway');
  const what = `${method} ${pathname} ${response.status}`;
  const copy = response.clone();
  const found = findOperation(pathname, method);
  if (found === null) return expectUnrouted(what, pathname, copy);
  const pointer = `${found.pointer}/responses/${response.status}`;
  const answer = resolve<Answer>(found.operation.responses[response.status], pointer);
  expect(answer, `${what} is in the document`).toBeDefined();
  if (answer === undefined) return;
  expectHeaders(what, answer.value, response);
  await expectBody(what, answer, copy);
}

/** The document's path for a request; null if there is none. */
export function findTemplate(pathname: string): string | null {
  const tidy = pathname.replace(/(?<=.)\/$/, '');
  const templates = Object.keys(DOCUMENT.paths);
  const fits = (parameter: string) => (template: string) =>
    toPattern(template, parameter).test(tidy);
  // Ids of models may contain slashes.
  return templates.find(fits('[^/]+')) ?? templates.find(fits('.+')) ?? null;
}

function findOperation(pathname: string, method: string) {
  const template = findTemplate(pathname);
  const operation =
    template === null ? undefined : DOCUMENT.paths[template]?.[method.toLowerCase() as Method];
  if (template === null || operation === undefined) return null;
  const key = template.replaceAll('/', '~1');
  return { operation, pointer: `#/paths/${key}/${method.toLowerCase()}` } satisfies {
    operation: Operation;
    pointer: string;
  };
}

function toPattern(template: string, parameter: string): RegExp {
  const escaped = template.replace(/(?<=.)\/$/, '').replaceAll('.', String.raw`\.`);
  return new RegExp(`^${escaped.replaceAll(/\{[a-z_]+\}/g, parameter)}$`);
}

/** Answers outside all operations: only the document's introduction describes them. */
async function expectUnrouted(what: string, pathname: string, response: Response): Promise<void> {
  const { error } = (await response.json()) as { error: { code: string } };
  const isKnown = findTemplate(pathname) !== null;
  const expected = isKnown ? [405, 'method_not_allowed'] : [404, 'unknown_url'];
  expect([response.status, error.code], `${what} has no operation`).toEqual(expected);
  if (isKnown) expect(response.headers.get('allow'), `${what} names the methods`).not.toBeNull();
  expectValid(what, `${ROOT}#/components/schemas/Error`, { error });
}

function expectHeaders(what: string, answer: Answer, response: Response): void {
  const documented = Object.entries(answer.headers ?? {});
  for (const [name, header] of documented) {
    const { required, schema } = resolve<Header>(header, '')?.value ?? { schema: {} };
    const value = response.headers.get(name);
    if (required === true) expect(value, `${what} has ${name}`).not.toBeNull();
    if (value === null) continue;
    const read = schema.type === 'integer' ? Number(value) : value;
    expect(ajv.validate(schema, read), `${what} has ${name}: ${value}`).toBe(true);
  }
  const known = new Set(documented.map(([name]) => name.toLowerCase()));
  const sent = [...response.headers.keys()].filter((name) => OUR_HEADER.test(name));
  expect(
    sent.filter((name) => !known.has(name)),
    `${what} has headers that the document lacks`,
  ).toEqual([]);
}

async function expectBody(what: string, answer: Located<Answer>, response: Response) {
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const { content } = answer.value;
  if (content === undefined) return expect(await response.text(), `${what} is empty`).toBe('');
  expect(Object.keys(content), `${what} is ${type}`).toContain(type);
  const pointer = `${ROOT}${answer.pointer}/content/${type.replaceAll('/', '~1')}/schema`;
  if (type === 'application/json') return expectValid(what, pointer, await response.json());
  if (type === 'text/event-stream') return expectEvents(what, pointer, await response.text());
  if (type === 'text/plain') return expectValid(what, pointer, await response.text());
  const { byteLength } = await response.arrayBuffer();
  return expect(byteLength, `${what} has bytes`).toBeGreaterThan(0);
}

function expectEvents(what: string, pointer: string, text: string): void {
  const payloads = [...text.matchAll(/^data: (.*)$/gm)].map(([, payload = '']) => payload);
  // Events with names end by one of them.
  const isNamed = text.startsWith('event: ');
  if (!isNamed) expect(payloads.pop(), `${what} ends`).toBe('[DONE]');
  expect(payloads.length, `${what} has chunks`).toBeGreaterThan(0);
  for (const payload of payloads) expectValid(what, pointer, JSON.parse(payload));
}

/** Also for values from elsewhere, for instance the body of a webhook. */
export function expectSchema(name: string, value: unknown): void {
  expectValid(name, `${ROOT}#/components/schemas/${name}`, value);
}

function expectValid(what: string, $ref: string, value: unknown): void {
  const validate = ajv.compile({ $ref });
  const isValid = validate(value);
  const faults = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`;
  });
  const shown = JSON.stringify(value).slice(0, 2_000);
  expect(faults, `${what} is as documented: ${shown}`).toEqual([]);
  expect(isValid).toBe(true);
}

interface Located<T> {
  readonly value: T;
  readonly pointer: string;
}

function resolve<T>(value: T | Reference | undefined, pointer: string): Located<T> | undefined {
  if (typeof value !== 'object' || value === null || !('$ref' in value)) {
    return value === undefined ? undefined : { value: value as T, pointer };
  }
  const { $ref } = value;
  const found = $ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], DOCUMENT);
  return { value: found as T, pointer: $ref };
}
