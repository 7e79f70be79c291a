import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { dataFolder } from '../cli/data-folder.js';

const TOKEN = '0123456789abcdef';

test('the metrics are off unless a token or a port is set', () => {
  expect(loadConfig({}, {})).toMatchObject({ metricsToken: null, metricsPort: null });
  expect(loadConfig({}, { GATEWAY_METRICS_TOKEN: TOKEN }).metricsToken).toBe(TOKEN);
  expect(loadConfig({}, { GATEWAY_METRICS_PORT: '9100' }).metricsPort).toBe(9_100);
  const flag = loadConfig({ metricsPort: '9200' }, { GATEWAY_METRICS_PORT: '9100' });
  expect(flag.metricsPort).toBe(9_200);
});

test.each(['short-secret', 'with a space in it', 'x'.repeat(513), 'tökens-and-tokens'])(
  "'%s' is refused as a token, and not repeated",
  (written) => {
    const load = () => loadConfig({}, { GATEWAY_METRICS_TOKEN: written });
    expect(load).toThrow('GATEWAY_METRICS_TOKEN is not usable: allowed is 16 to 512');
    expect(load).not.toThrow(written);
  },
);

test('the port of the API is refused as the port of the metrics', () => {
  const environment = { GATEWAY_METRICS_PORT: '7070' };
  const refusal = 'GATEWAY_METRICS_PORT is 7070, the port of the API itself';
  expect(() => loadConfig({}, environment)).toThrow(refusal);
  expect(loadConfig({ port: '7071' }, environment).metricsPort).toBe(7_070);
  expect(loadConfig({ port: '0', metricsPort: '0' }, {}).metricsPort).toBe(0);
});

test('a metrics port that is taken exits 7 and names its flag', async () => {
  const folder = await dataFolder();
  const other = createServer();
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await folder.alone(`start --port 0 --metrics-port ${port}`);
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
  expect(stderr).toContain(`cannot listen on 127.0.0.1 port ${port}`);
  expect(stderr).toContain('Choose another --metrics-port');
});

test('an API port that is taken ends the program, its metrics port included', async () => {
  const folder = await dataFolder();
  const other = createServer();
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await folder.alone(`start --port ${port} --metrics-port 0`);
  expect(code).toBe(7);
  expect(stderr).toContain('Choose another --port');
});
