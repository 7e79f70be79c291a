/** Reads the coordinator's OpenAPI document for the page. */
import type {
  Answer,
  Method,
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
} from '../../../../src/openapi/open-api.js';
import { useSnapshot } from '../../api/snapshot.js';
import type { Snapshot } from '../../api/snapshot.js';

export type { Answer, OpenApiDocument, Operation, Parameter };

export const DOCUMENT = '/openapi.json';

/** Requested once: the document changes only with the program. */
export function useDocument(): Snapshot<OpenApiDocument> {
  return useSnapshot<OpenApiDocument>(DOCUMENT, { everyMs: null });
}

export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  readonly operation: Operation;
}

export interface Group {
  readonly name: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
}

const METHODS: readonly Method[] = ['get', 'post', 'delete'];

/** By tag, in the document's own order. */
export function groupsOf(document: OpenApiDocument): readonly Group[] {
  const endpoints = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );
  return document.tags.map(({ name, description }) => ({
    name,
    description,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name)),
  }));
}

/** Endpoints that contain every word; groups without such endpoints are left out. */
export function searched(groups: readonly Group[], text: string): readonly Group[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return groups
    .map((group) => ({
      ...group,
      endpoints: group.endpoints.filter((endpoint) => {
        const whole = wordsOf(endpoint);
        return words.every((word) => whole.includes(word));
      }),
    }))
    .filter(({ endpoints }) => endpoints.length > 0);
}

function wordsOf({ method, path, operation }: Endpoint): string {
  const { operationId, summary, description = '' } = operation;
  return [method, path, operationId, summary, description].join(' ').toLowerCase();
}

export function parametersOf(
  document: OpenApiDocument,
  { parameters = [] }: Operation,
): readonly Parameter[] {
  return parameters.flatMap((one) => {
    const parameter = isReference(one) ? document.components.parameters[nameOf(one)] : one;
    return parameter === undefined ? [] : [parameter];
  });
}

/** By status, the lowest first. */
export function answersOf(
  document: OpenApiDocument,
  { responses }: Operation,
): readonly (readonly [string, Answer])[] {
  return Object.entries(responses).flatMap(([status, one]) => {
    const answer = isReference(one) ? document.components.responses[nameOf(one)] : one;
    return answer === undefined ? [] : [[status, answer] as const];
  });
}

function isReference(value: object): value is Reference {
  return '$ref' in value;
}

/** `#/components/schemas/Job` is `Job`. */
function nameOf({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}
