import { readFile, readdir, readlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { answer } from '../../support/fake-behaviours.js';
import { fakeNvidiaSmi } from '../../support/fake-nvidia-smi.js';
import { parsePrometheus, valueOf } from '../../support/prometheus-text.js';
import { until } from '../../support/until.js';
import { deadOrigin } from './agent-program.js';
import { jobHome, letsIn } from './job-home.js';

test('status tells the link, what is let in, the services and what was done today', async () => {
  const home = await jobHome();
  const { link } = await home.startAgent();
  await home.run('pause', '--for', '2h');
  await letsIn(link, 'own');
  const { code, stdout } = await home.run('status');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^connection +online for \d+ s$/m);
  expect(stdout).toMatch(/^lets_in +your own work until 2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/m);
  expect(stdout).toMatch(/^today +0 requests, 0 s$/m);
  expect(stdout).toMatch(/^llm-1\tup\t/m);
});

test.skipIf(process.platform === 'win32')(
  'status shows what the cards do, and jobs what a run takes of it',
  async () => {
    const fake = await fakeNvidiaSmi();
    await fake.load(7);
    const home = await jobHome({ PATH: `${fake.folder}:${process.env['PATH']}` });
    const { link } = await home.startAgent();
    link.open(1);
    const card = { name: 'Fake RTX', use_percent: 7, memory_used_mib: 300, memory_mib: 24_564 };
    const gpus = await until(async () => {
      const report = JSON.parse((await home.run('status', '--json')).stdout) as Gpus;
      return report.gpus[0]?.use_percent === 7 ? report.gpus : null;
    });
    expect(gpus).toEqual([{ ...card, power_watts: 25.5 }]);
    expect((await home.run('status')).stdout).toContain('Fake RTX\t7\t300\t24564\t25.5\n');
    // There is none before the card was asked again: a moment later, or several.
    await until(async () => {
      const [job] = JSON.parse((await home.run('jobs', '--json')).stdout) as Energy[];
      return (job?.energy_wh ?? 0) > 0;
    });
    home.server.behave(answer());
    link.open(2);
    await link.lastWord(2);
    const [today] = JSON.parse((await home.run('jobs', '--today', '--json')).stdout) as Energy[];
    expect(today).toMatchObject({ requests: 1, energy_wh: expect.any(Number) });
  },
  60_000,
);

interface Gpus {
  readonly gpus: readonly { readonly use_percent: number | null }[];
}

interface Energy {
  readonly energy_wh: number | null;
}

test.skipIf(process.platform !== 'linux')(
  'without a status port the agent listens on no port at all',
  async () => {
    const home = await jobHome();
    const plain = await home.startAgent();
    expect(await listening(plain.program.child.pid)).toBe(0);
    plain.program.child.kill('SIGTERM');
    await plain.program.finished;
    const { port } = new URL(await deadOrigin());
    const { program } = await home.startAgent('--status-port', port);
    expect(await listening(program.child.pid)).toBe(1);
  },
);

test('start --status-port answers readyz and metrics while the agent lives', async () => {
  const home = await jobHome();
  const origin = await deadOrigin();
  const { program, link } = await home.startAgent('--status-port', new URL(origin).port);
  const ready = await fetch(`${origin}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toEqual({ ready: true, name: 'den-pc', models: 1 });
  link.open(1, { kind: 'sync', caller: { name: 'Ben', own: false } });
  await until(() => home.server.requests.length === 1);
  const metrics = parsePrometheus(await (await fetch(`${origin}/metrics`)).text());
  expect(valueOf(metrics, 'gateway_agent_running')).toBe(1);
  expect(valueOf(metrics, 'gateway_agent_online')).toBe(1);
  home.coordinator.isAway = true;
  link.cut();
  const lost = await until(async () => {
    const answer = await fetch(`${origin}/readyz`);
    return answer.status === 503 ? answer : null;
  });
  expect(await lost.json()).toEqual({
    ready: false,
    reason: expect.stringMatching(/^connecting: /),
  });
  program.child.kill('SIGTERM');
  await program.finished;
  await expect(fetch(`${origin}/readyz`)).rejects.toThrow('fetch failed');
});

test('a status port that is taken exits 7 before anything is served', async () => {
  const home = await jobHome();
  const { port } = new URL(home.server.baseUrl);
  const { code, stdout, stderr } = await home.run('start', '--status-port', port);
  expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
  expect(stderr).toContain(`port ${port} of 127.0.0.1 is taken by another program`);
  expect(home.coordinator.links).toEqual([]);
  await home.startAgent();
});

test.each(['0', '65536', '80a'])('--status-port %s is a usage error', async (port) => {
  const home = await jobHome();
  expect(await home.run('start', '--status-port', port)).toMatchObject({ code: 2, stdout: '' });
});

/** On how many TCP ports a process listens. */
async function listening(pid = 0): Promise<number> {
  const names = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(
    names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')),
  );
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((table) => readFile(`/proc/${pid}/net/${table}`, 'utf8').catch(() => '')),
  );
  const rows = tables.flatMap((table) => table.split('\n')).map((row) => row.trim().split(/\s+/));
  const sockets = rows.filter(([, , , state]) => state === LISTENS).map((row) => row[9]);
  return sockets.filter((inode) => links.includes(`socket:[${inode}]`)).length;
}

/** As the kernel writes it. */
const LISTENS = '0A';
