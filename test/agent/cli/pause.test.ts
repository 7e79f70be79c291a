import { readFile, writeFile } from 'node:fs/promises';
import { parseDuration, parseTimeOfDay } from '@inference-gateway/agent/cli/options';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/until.js';
import { jobHome, letsIn } from './job-home.js';
import type { JobHome } from './job-home.js';

const OTHERS = { caller: { name: 'Ben', own: false } };

async function statusOf(home: JobHome): Promise<Record<string, unknown>> {
  return JSON.parse((await home.run('status', '--json')).stdout) as Record<string, unknown>;
}

test('pause keeps others out, the coordinator is told, and resume lets them in', async () => {
  const home = await jobHome();
  const { link } = await home.startAgent();
  const paused = await home.run('pause');
  expect(paused).toMatchObject({ code: 0, stdout: '' });
  expect(paused.stderr).toContain('gateway-agent resume');
  await letsIn(link, 'own');
  expect(await statusOf(home)).toMatchObject({ accepts: 'own', paused_until: null });
  link.open(1, OTHERS);
  expect(await link.lastWord(1)).toMatchObject({ t: 'REJECT', reason: 'paused' });
  expect((await home.run('resume')).code).toBe(0);
  await letsIn(link, 'all');
  link.open(2, OTHERS);
  await until(() => home.server.requests.length === 1);
});

test('pause lets others finish; with --now they are handed back', async () => {
  const home = await jobHome();
  const { link } = await home.startAgent();
  link.open(1, OTHERS);
  link.open(2);
  await until(() => home.server.requests.length === 2);
  await home.run('pause');
  expect(home.server.aborts).toEqual([]);
  await home.run('pause', '--now');
  expect(await link.lastWord(1)).toMatchObject({ t: 'RESET', code: 'YIELDED' });
  await until(() => home.server.aborts.length === 1);
  expect(link.said(2).map(({ t }) => t)).toEqual(['ACCEPT']);
});

test('a pause ends by itself', async () => {
  const home = await jobHome();
  const { link } = await home.startAgent();
  await home.run('pause', '--for', '2s');
  await letsIn(link, 'own');
  await letsIn(link, 'all');
  expect(await statusOf(home)).toMatchObject({ accepts: 'all', paused_until: null });
  await expect(readFile(`${home.stateDir}/pause.json`)).rejects.toThrow('ENOENT');
});

test('a pause and its end outlive the agent', async () => {
  const home = await jobHome();
  const { program } = await home.startAgent();
  await home.run('pause', '--for', '2h');
  const { paused_until: end } = await statusOf(home);
  expect(Number(end) - Date.now()).toBeGreaterThan(7_000_000);
  program.child.kill('SIGKILL');
  await program.finished;
  const { link } = await home.startAgent();
  await letsIn(link, 'own');
  expect(await statusOf(home)).toMatchObject({ accepts: 'own', paused_until: end });
});

test('a pause that is over by the next start is none', async () => {
  const home = await jobHome();
  const { program } = await home.startAgent();
  await home.run('pause', '--for', '2h');
  program.child.kill('SIGKILL');
  await program.finished;
  await writeFile(`${home.stateDir}/pause.json`, JSON.stringify({ until: Date.now() - 1 }));
  await home.startAgent();
  expect(await statusOf(home)).toMatchObject({ accepts: 'all' });
});

test('resume overrides no hours, and says so', async () => {
  const home = await jobHome();
  const file = home.stateDir.replace(/\.state$/, '');
  const config = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...config, hours: hoursOfLater() }));
  const { link } = await home.startAgent();
  await letsIn(link, 'own');
  const { code, stderr } = await home.run('resume');
  expect(code).toBe(0);
  expect(stderr).toContain(`accepted only at ${hoursOfLater()}`);
  expect(await statusOf(home)).toMatchObject({ owner_reason: { kind: 'outside_hours' } });
});

/** An hour of the day that is six hours off. */
function hoursOfLater(): string {
  const from = (new Date().getHours() + 6) % 24;
  return `${clock(from)}-${clock(from + 1)}`;
}

function clock(hour: number): string {
  return `${String(hour % 24).padStart(2, '0')}:00`;
}

test.each([
  [['pause', '--for', '2x']],
  [['pause', '--until', '25:00']],
  [['pause', '--for', '2h', '--until', '22:00']],
])('%j is a usage error', async (args) => {
  const home = await jobHome();
  expect(await home.run(...args)).toMatchObject({ code: 2, stdout: '' });
});

test.each(['pause', 'resume'])('%s without a running agent exits 9', async (command) => {
  const home = await jobHome();
  const { code, stderr } = await home.run(command);
  expect(code).toBe(9);
  expect(stderr).toContain('gateway-agent start');
});

describe('a time of day', () => {
  test('is the next one', () => {
    const at = new Date(parseTimeOfDay('22:05'));
    expect([at.getHours(), at.getMinutes(), at.getSeconds()]).toEqual([22, 5, 0]);
    const leftMs = at.getTime() - Date.now();
    expect(leftMs).toBeGreaterThan(0);
    // An hour more if the clock is set back in between.
    expect(leftMs).toBeLessThanOrEqual(25 * 3_600_000);
  });

  test.each(['24:00', '7', '12:60', ''])('is not %j', (written) => {
    expect(() => parseTimeOfDay(written)).toThrow('22:00');
  });
});

test.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
])('%s are %d ms', (written, ms) => {
  expect(parseDuration(written)).toBe(ms);
});

test.each(['0s', '366d', '2', 'h', '-1h'])('%j is no duration', (written) => {
  expect(() => parseDuration(written)).toThrow('at most 365d');
});
