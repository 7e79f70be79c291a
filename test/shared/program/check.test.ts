import { CommandError } from '@inference-gateway/shared/program/command-error';
import { checking, isFit, obstacle, reportChecks } from '@inference-gateway/shared/program/check';
import { checkCertificate, judgeEnd } from '@inference-gateway/shared/program/certificate';
import { checkNode } from '@inference-gateway/shared/program/versions';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

const told = checking('data folder');
const PASS = told.pass('/data');
const WARN = told.warn('small', 'Free space.');
const FAIL = told.fail('gone', 'Make it with: mkdir /data');
const SKIP = told.skip('nothing is configured');

test('a check has an id that programs can use, and only what is wrong has advice', () => {
  expect(PASS).toEqual({
    id: 'data_folder',
    name: 'data folder',
    status: 'PASS',
    found: '/data',
    advice: null,
  });
  expect(SKIP).toMatchObject({ status: 'SKIP', found: 'nothing is configured', advice: null });
});

test.each([
  [PASS, true, null],
  [WARN, true, null],
  [FAIL, false, 'needs "data folder", which failed'],
  [SKIP, false, 'nothing is configured'],
])('what builds on %o', (check, fit, why) => {
  expect(isFit(check)).toBe(fit);
  expect(obstacle(PASS, check)).toBe(why);
});

test('the first of several obstacles is told', () => {
  expect(obstacle(WARN, SKIP, FAIL)).toBe('nothing is configured');
});

test('only a failure fails the doctor', () => {
  expect(printed(() => reportChecks([PASS, WARN, SKIP], false))).toBe(
    'PASS\tdata folder\t/data\t-\nWARN\tdata folder\tsmall\tFree space.\n' +
      'SKIP\tdata folder\tnothing is configured\t-\n',
  );
  const failing = () => reportChecks([PASS, FAIL], true);
  let thrown: unknown;
  const json = printed(() => {
    try {
      failing();
    } catch (error) {
      thrown = error;
    }
  });
  expect(JSON.parse(json)).toEqual([PASS, FAIL]);
  expect(thrown).toBeInstanceOf(CommandError);
  expect(thrown).toMatchObject({ exitCode: 9, message: '1 of 2 failed: data folder.' });
});

test.each([
  ['20.18.3', 'FAIL'],
  ['20.19.0', 'PASS'],
  ['24.1.0', 'PASS'],
])('Node %s: %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

test('an address without TLS needs no certificate; one that should have it fails', async () => {
  const remedy = { renew: 'Renew it with: certbot renew', trust: 'Trust it' };
  expect(await checkCertificate('http://127.0.0.1:1', remedy)).toMatchObject({ status: 'SKIP' });
  const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const check = await checkCertificate(`https://127.0.0.1:${port}`, remedy);
  expect(check).toMatchObject({ status: 'FAIL', advice: remedy.renew });
  expect(check.found).toContain(`no TLS at 127.0.0.1:${port}`);
});

test.each([
  ['2027-03-01T00:00:00Z', 'PASS', 'valid for 59 more days, by Test Authority'],
  ['2027-01-15T00:00:00Z', 'PASS', 'valid for 14 more days, by Test Authority'],
  ['2027-01-14T23:59:59Z', 'WARN', 'valid for 13 more days, by Test Authority'],
])('a certificate until %s: %s', (end, status, found) => {
  const issuer = { C: '', ST: '', L: '', O: 'Test Authority', OU: '', CN: 'test' };
  const nowMs = Date.parse('2027-01-01T00:00:00Z');
  const renew = 'certbot renew';
  expect(judgeEnd({ valid_to: end, issuer }, { renew, nowMs })).toMatchObject({ status, found });
});

/** What `act` prints to stdout. */
function printed(act: () => void): string {
  const write: unknown = Reflect.get(process.stdout, 'write');
  let text = '';
  process.stdout.write = (piece: string | Uint8Array) => {
    text += String(piece);
    return true;
  };
  try {
    act();
  } finally {
    Reflect.set(process.stdout, 'write', write);
  }
  return text;
}
