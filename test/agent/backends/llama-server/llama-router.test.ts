/** Which models of llama-server's router a request can have. */
import { expect, test } from 'vitest';
import { LLAMA_PROPS } from '../../../support/fake-openai-server.js';
import { startLlamaRouter } from '../../../support/local-servers/llama-server.js';
import { modelList } from '../../../support/local-servers/stand-in.js';
import { describeAt } from '../dialect-stage.js';

const STATES = ['loaded', 'loading', 'sleeping', 'unloaded', 'downloading'];

async function idsWith(props: object): Promise<readonly string[]> {
  const rows = STATES.map((value) => ({ id: value, status: { value } }));
  const routes = {
    '/props': { role: 'router', max_instances: 2, ...props },
    '/props?model=loaded&autoload=false': LLAMA_PROPS,
    '/v1/models': modelList(rows, { owned_by: 'llamacpp' }),
  };
  const at = { backend: 'llama-server', path: '' } as const;
  return (await describeAt(startLlamaRouter({ routes }), at)).ids;
}

test('all that it loads for a request, and nothing that still comes from afar', async () => {
  const has = ['loaded', 'loading', 'sleeping', 'unloaded'];
  expect(await idsWith({ models_autoload: true })).toEqual(has);
  expect(await idsWith({})).toEqual(has);
});

test('none that it would refuse where its owner loads them', async () => {
  expect(await idsWith({ models_autoload: false })).toEqual(['loaded', 'loading', 'sleeping']);
});
