import { createRouter } from '@inference-gateway/coordinator/http/edge/app';
import type { AppParts } from '@inference-gateway/coordinator/http/edge/app';
import { describe, expect, test } from 'vitest';
import { DOCUMENT, findTemplate } from '../../support/openapi.js';

/** A placeholder for all parts: the routes are only registered here, never called. */
const anything: object = new Proxy(() => anything, { get: () => anything });

interface Layer {
  readonly methods: readonly string[];
  readonly regexp: RegExp;
  readonly path: string | RegExp;
}

const stack = createRouter(anything as AppParts).stack as readonly Layer[];
/** Koa answers HEAD wherever it answers GET. */
const routes = stack.map(({ methods, regexp, path }) => ({
  methods: methods.filter((method) => method !== 'HEAD'),
  regexp,
  path,
}));

const operations = Object.entries(DOCUMENT.paths).flatMap(([template, item]) =>
  Object.keys(item).map((method) => ({ method: method.toUpperCase(), template })),
);

function takes({ method, template }: (typeof operations)[number], route: Layer): boolean {
  const sample = template.replaceAll(/\{[a-z_]+\}/g, 'x').replace(/(?<=.)\/$/, '');
  return route.methods.includes(method) && route.regexp.test(sample);
}

test('every documented operation has a route', () => {
  const missing = operations.filter((one) => !routes.some((route) => takes(one, route)));
  expect(missing).toEqual([]);
});

describe('every route is documented', () => {
  const told = routes.map((route) => [`${route.methods.join()} ${route.path}`, route] as const);

  test.each(told)('%s', (_, route) => {
    const found = operations.filter((one) => takes(one, route));
    expect(found.map(({ method }) => method)).toEqual(expect.arrayContaining(route.methods));
  });
});

test.each([
  ['/v1/models/org/Model:7b', '/v1/models/{id}'],
  ['/v1/jobs/x/cancel', '/v1/jobs/{id}/cancel'],
  ['/api/inference/assets/x', '/api/inference/assets/{id}/'],
  ['/v1/nothing', null],
])('%s is found as %s', (path, template) => {
  expect(findTemplate(path)).toBe(template);
});
