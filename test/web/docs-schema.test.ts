/** The document's schemas as the tables of Docs, and its errors. */
import { CALL_KINDS } from '@inference-gateway/coordinator/http/inference/kinds';
import { createDocument } from '@inference-gateway/coordinator/openapi/document';
import { ERRORS } from '@inference-gateway/shared/errors';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ERROR_ADVICE } from '../../packages/coordinator/web/src/screens/docs/error-advice.js';
import {
  answersOf,
  groupsOf,
  parametersOf,
  searched,
} from '../../packages/coordinator/web/src/screens/docs/open-api.js';
import { fieldsOf } from '../../packages/coordinator/web/src/screens/docs/schema-fields.js';

const document = createDocument('https://gateway.example.org', CALL_KINDS);
const all = groupsOf(document).flatMap(({ endpoints }) => endpoints);

function fields(schema: object): string[] {
  return fieldsOf(document, schema).map(({ name, type, isRequired, notes }) =>
    [name, type, ...(isRequired ? ['required'] : []), ...notes].join(' | '),
  );
}

function found(text: string): string[] {
  return searched(groupsOf(document), text).flatMap(({ endpoints }) =>
    endpoints.map(({ method, path }) => `${method} ${path}`),
  );
}

test('every operation of the document is listed once, below its tag', () => {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  expect(all.map(({ operation }) => operation.operationId).toSorted()).toEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
  );
  expect(new Set(all.map(({ operation }) => operation.operationId)).size).toBe(all.length);
});

test('references are followed wherever they stand', () => {
  for (const { operation } of all) {
    expect(parametersOf(document, operation)).toHaveLength(operation.parameters?.length ?? 0);
    expect(answersOf(document, operation)).toHaveLength(Object.keys(operation.responses).length);
  }
});

test('fields tell their type, their bounds, and what is inside of them; null is no type', () => {
  const chat = fields({ $ref: '#/components/schemas/ChatCompletionRequest' });
  expect(chat).toContain('model | string | required | 1 to 256 characters.');
  expect(chat).toContain('messages | array of object | required | At least 1 item.');
  expect(chat).toContain('messages[].role | string | required | At least 1 character.');
  expect(chat).toContain('temperature | number | 0 to 2. | Default 0.7.');
  expect(chat).toContain('stop | string or array of string');
  expect(chat.find((field) => field.startsWith('webhook |'))).toMatch(/^webhook \| object \| Who /);
  expect(chat.some((field) => field.startsWith('webhook.url | string'))).toBe(true);
});

test('constants and choices are their own type', () => {
  const schema = {
    properties: { a: { const: 'x' }, b: { enum: ['y', 1] }, c: {} },
    required: ['b'],
  };
  expect(fields(schema)).toEqual(['a | "x"', 'b | "y" or 1 | required', 'c | anything']);
});

test('a search wants every word, in any order', () => {
  expect(found('jobs POST cancel')).toContain('post /v1/jobs/{id}/cancel');
  expect(found('cancel every')).toEqual(['post /v1/batches/{id}/cancel']);
  expect(found('nothing is like this')).toEqual([]);
  expect(found(' ')).toHaveLength(all.length);
});

test('errors say what docs/errors.md says', async () => {
  const text = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` .*$/gm)].map(([line, code = '']) => {
    const cells = line.split('|').map((cell) => cell.trim());
    return [code, { meaning: cells[5], todo: cells[6] }] as const;
  });
  expect(Object.fromEntries(rows)).toEqual(ERROR_ADVICE);
  expect(Object.keys(ERROR_ADVICE)).toEqual(Object.keys(ERRORS));
});
