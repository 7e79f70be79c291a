/** An endpoint is a row and a kind: what else names one, a new one would have to be added to. */
import { describe, expect, test } from 'vitest';
import { endpointNames, kindBranches } from './endpoint-names.js';
import { parse, productFiles } from './source-file.js';

const sources = productFiles().filter(({ path }) => /^packages\/[a-z]+\/src\//.test(path));

/**
 * The row, its schema, its description, and what is translated to it; beside them, servers with
 * these endpoints alone.
 */
const OWN_FILES = [
  'packages/shared/src/endpoints.ts',
  'packages/shared/src/openai/request-schemas.ts',
  'packages/coordinator/src/openapi/endpoint-texts.ts',
  'packages/shared/src/openai/translated-apis.ts',
];
const SERVERS_OF_SOME = [
  'packages/agent/src/backends/automatic1111/backend.ts',
  'packages/agent/src/backends/whisper-asr/backend.ts',
  'packages/agent/src/backends/whisper-server/backend.ts',
];
/** A word of LocalAI, and what the demo's visitors and its made-up jobs ask for. */
const OTHERS = [
  'packages/agent/src/backends/model-list.ts',
  'packages/coordinator/src/demo/past/past-jobs.ts',
  'packages/coordinator/src/demo/past/past-usage.ts',
  'packages/coordinator/src/demo/requests.ts',
];

function filesWith(find: typeof endpointNames): string[] {
  return sources.filter((file) => find(file).length > 0).map(({ path }) => path);
}

test('endpoints are named by their own files, and by servers that have no others', () => {
  const allowed = [...OWN_FILES, ...SERVERS_OF_SOME, ...OTHERS];
  expect(filesWith(endpointNames).toSorted()).toEqual(allowed.toSorted());
});

test('nothing branches on the kind of an endpoint, or on the type of its models', () => {
  expect(sources.flatMap(kindBranches)).toEqual([]);
});

describe('it is seen', () => {
  const PATH = 'packages/agent/src/x.ts';

  test.each([
    [`const isList = endpoint === 'completions';`, 'completions'],
    [`if (call.endpoint !== 'music') stop();`, 'music'],
    [`switch (call.endpoint) { case 'chat': stop(); }`, 'chat'],
    [`const call = { endpoint: 'speech' };`, 'speech'],
    [`const TEXTS = { transcriptions: '' };`, 'transcriptions'],
    [`const { path } = ENDPOINTS.edits;`, 'edits'],
    [`const RARE = new Set(['videos']);`, 'videos'],
  ])('as an endpoint: %s', (text, key) => {
    expect(endpointNames(parse(PATH, text))).toEqual([`${PATH}:1 ${key}`]);
  });

  test.each([
    [`const isText = ENDPOINTS[endpoint].serviceType === 'llm';`, 'llm'],
    [`switch (row.service_type) { case 'image': stop(); }`, 'image'],
    [`if (ENDPOINTS[endpoint].kind === 'images') stop();`, 'images'],
  ])('as a branch: %s', (text, word) => {
    expect(kindBranches(parse(PATH, text))).toEqual([`${PATH}:1 ${word}`]);
  });

  test.each([
    `const voice = body['voice'] ?? model.voices?.[0];`,
    `const path = '/v1/music/generations';`,
    `if (answer.kind === 'images') stop();`,
    `const music = makerOf('music');`,
  ])('as neither: %s', (text) => {
    const file = parse(PATH, text);
    expect([endpointNames(file), kindBranches(file)]).toEqual([[], []]);
  });
});
