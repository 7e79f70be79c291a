import { CALL_KINDS } from '@inference-gateway/coordinator/http/inference/kinds';
import { createDocument } from '@inference-gateway/coordinator/openapi/document';
import { ERROR_ANSWERS, errorStatus } from '@inference-gateway/coordinator/openapi/error-answers';
import type { ErrorAnswerName } from '@inference-gateway/coordinator/openapi/error-answers';
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import { ERRORS } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, test } from 'vitest';
import { DOCUMENT } from '../../support/openapi.js';

/** Requests of monitors, browsers and tools; they have nothing that could be wrong. */
const CANNOT_BE_WRONG = ['/', '/healthz', '/readyz', '/openapi.json'].concat(
  '/api/console/v1/log-in',
);
/** It leads on to a page, whatever has happened. */
const REDIRECTS = '/api/oidc/callback';

async function lint(document: object): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // The specification's own path of an asset ends in a slash.
      'no-path-trailing-slash': 'off',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems
    .map(({ ruleId, message, location }) => {
      return `${ruleId}: ${message} (${location[0]?.pointer?.replaceAll('~1', '/')})`;
    })
    .filter((line) => {
      const isExcused = CANNOT_BE_WRONG.some((path) => line.includes(`#/paths/${path}/get/`));
      const isLedOn = line.includes(`#/paths/${REDIRECTS}/get/`);
      return !(
        (line.startsWith('operation-4xx-response') && isExcused) ||
        (line.startsWith('operation-2xx-response') && isLedOn)
      );
    });
}

describe('an OpenAPI linter', () => {
  test('finds nothing wrong with the document', async () => {
    expect(await lint(createDocument('https://gateway.example.net', CALL_KINDS))).toEqual([]);
  });

  test('finds an example that does not fit its schema', async () => {
    const broken = JSON.stringify(DOCUMENT).replace('"object":"service.batch","label"', '"label"');
    const problems = await lint(JSON.parse(broken) as object);
    expect(problems).not.toEqual([]);
    expect(problems[0]).toContain('no-invalid-media-type-examples');
  });
});

test("the interface description's own version is 1.0.0, and its server is the public URL", () => {
  const { openapi, info, servers } = createDocument('https://gateway.example.net', CALL_KINDS);
  expect(openapi).toMatch(/^3\.1\./);
  expect(info).toMatchObject({ version: '1.0.0' });
  expect(servers).toEqual([{ url: 'https://gateway.example.net' }]);
});

describe.each(ENDPOINT_KEYS)('the row %s of the endpoint table', (key) => {
  const { method, path, body, inferenceType, uploads } = ENDPOINTS[key];
  const operation = DOCUMENT.paths[`/v1${path}`]?.[method === 'GET' ? 'get' : 'post'];

  test('is in the document with its kind of body', () => {
    const types = Object.keys(operation?.requestBody?.content ?? {});
    const expected = { json: 'application/json', multipart: 'multipart/form-data', query: null };
    expect(types).toEqual([expected[body]].filter((type) => type !== null));
    expect(operation?.security).toEqual([{ apiKey: [] }]);
  });

  test('answers 202 and takes an idempotency key exactly where it can run as a job', () => {
    const parameters = JSON.stringify(operation?.parameters);
    expect(operation?.responses['202'] !== undefined).toBe(inferenceType !== null);
    expect(parameters.includes('IdempotencyKey')).toBe(inferenceType !== null);
  });

  test('lists its files beside its fields, and which of both it needs', () => {
    const form = operation?.requestBody?.content['multipart/form-data']?.schema;
    const { properties = {}, required = [] } = (form ?? {}) as {
      properties?: object;
      required?: string[];
    };
    const names = uploads.map(({ name }): string => name);
    expect(Object.keys(properties).filter((name) => names.includes(name))).toEqual(names);
    const needed = uploads.filter((upload) => upload.required).map(({ name }): string => name);
    expect(required).toEqual(expect.arrayContaining(needed));
  });
});

describe('the schemas of requests', () => {
  const { schemas } = DOCUMENT.components;

  test('show defaults, ranges and the items of lists', () => {
    const properties = schemas['ChatCompletionRequest']?.properties;
    expect(properties?.['temperature']).toMatchObject({ default: 0.7 });
    expect(properties?.['messages']).toMatchObject({
      minItems: 1,
      items: { required: ['role'], properties: { role: { type: 'string' } } },
    });
  });

  test('accept additional properties, and those of our resources do not', () => {
    const names = Object.keys(schemas).filter((name) => /^[A-Z][a-z]+Request$/.test(name));
    const passed = names.filter((name) => name !== 'EnrollmentRequest');
    expect(passed.map((name) => schemas[name]?.additionalProperties)).toEqual(
      passed.map(() => ({})),
    );
    for (const name of ['Job', 'Batch', 'Model', 'Asset', 'QueueSummary', 'Error']) {
      expect(schemas[name]?.additionalProperties).toBe(false);
    }
    expect(schemas['ChatCompletion']?.additionalProperties).toEqual({});
  });

  test('take a webhook exactly where a call can run as a job', () => {
    const taking = Object.entries(schemas)
      .filter(([, { properties }]) => properties?.['webhook'] !== undefined)
      .map(([name]) => name);
    const jobs = ENDPOINT_KEYS.filter((key) => ENDPOINTS[key].inferenceType !== null);
    const others = ['BatchRequest', 'FileBatchRequest', 'ResponseRequest', 'MessagesRequest'];
    expect(taking).toHaveLength(jobs.length + others.length);
    expect(taking).toEqual(expect.arrayContaining(others));
  });
});

describe('the errors', () => {
  /** No operation answers these: they are about paths and methods, or about jobs. */
  const ELSEWHERE = ['method_not_allowed', 'no_provider', 'max_retries_exhausted'];
  const names = Object.keys(ERROR_ANSWERS) as ErrorAnswerName[];
  const OWN_STATUS = ['ConditionFailed', 'RangeOutside'];

  test('are all in some answer', () => {
    const told = new Set(names.flatMap((name): readonly string[] => ERROR_ANSWERS[name].codes));
    const missing = Object.keys(ERRORS).filter((code) => !told.has(code));
    expect(missing.toSorted()).toEqual(ELSEWHERE.toSorted());
  });

  test.each(names.filter((name) => !OWN_STATUS.includes(name)))(
    'that %s names have one status',
    (name) => {
      const codes: readonly ErrorCode[] = ERROR_ANSWERS[name].codes;
      expect([...new Set(codes.map((code) => ERRORS[code].status))]).toEqual([errorStatus(name)]);
    },
  );

  test('tell 503 and async_disabled of every endpoint that runs jobs', () => {
    const async = '#/components/responses/UnavailableOrAsyncDisabled';
    const told = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
      Object.values(item)
        .filter(({ responses }) => JSON.stringify(responses['503'])?.includes(async))
        .map(() => path),
    );
    expect(told).toEqual(expect.arrayContaining(['/v1/jobs/{id}', '/v1/chat/completions']));
    // Of jobs and batches, of files, of endpoints, and of responses. Messages have their own form
    // of errors.
    expect(told).toHaveLength(6 + 5 + 10 + 3);
  });
});

test('a finished job and a finished batch are told as Standard Webhooks', () => {
  expect(Object.keys(DOCUMENT.webhooks)).toEqual(['job.finished', 'batch.finished']);
  const { WebhookId, WebhookTimestamp, WebhookSignature } = DOCUMENT.components.parameters;
  expect([WebhookId, WebhookTimestamp, WebhookSignature].map((one) => one?.name)).toEqual([
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ]);
});
