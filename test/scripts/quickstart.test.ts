import { spawn } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { detectFormat } from '@inference-gateway/shared/media/types';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const SCRIPT = fileURLToPath(new URL('../../scripts/quickstart.js', import.meta.url));

test('with --once it makes every call, prints the answers and leaves nothing', async () => {
  const folder = await temporaryFolder();
  const { output, exited } = quickstart(folder, ['--once']);
  expect(await exited).toBe(0);
  expect(output.text).toMatch(/coordinator +http:\/\/127\.0\.0\.1:\d+\n/);
  expect(output.text).toMatch(/API key +gwk_\w+\n/);
  expect(output.text).toMatch(/A plain chat\n +you .+\n +demo-\S+ +\S/);
  expect(output.text).toMatch(/A streamed chat\n +you .+\n +demo-\S+ +\S/);
  expect(output.text).toMatch(/Speech\n +you .+\n +demo-voice +hello\.wav \(\d+ kB\)\n/);
  const [, said] = /Speech\n +you +(.+)\n/.exec(output.text) ?? [];
  expect(output.text).toContain(`demo-whisper ${said} (1.5 s)\n`);
  expect(output.text).toMatch(
    /An image\n +you .+\n +demo-painter lighthouse\.png \(\d+ kB, 512 × 512 pixels\)\n/,
  );
  expect(output.text).toMatch(
    /A batch of jobs\n +you .+\n +demo-chat +PROCESSED\n +demo-painter +PROCESSED http\S+\n/,
  );
  expect(await readdir(folder)).toEqual([]);
});

test('without it, it serves until Ctrl-C, then stops both and leaves nothing', async () => {
  const folder = await temporaryFolder();
  const { child, output, exited } = quickstart(folder, []);
  await until(() => output.text.includes('Press Ctrl-C'), { timeoutMs: 20_000 });
  const url = /base URL +(\S+)/.exec(output.text)?.[1] ?? '';
  const key = /API key +(\S+)/.exec(output.text)?.[1] ?? '';
  const models = await fetch(`${url}/models`, { headers: { authorization: `Bearer ${key}` } });
  expect(models.status).toBe(200);
  const told = (name: string) => new RegExp(`${name} +(\\S+)\n`).exec(output.text)?.[1] ?? '';
  const login = await fetch(`${told('address')}/api/console/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: told('address') },
    body: JSON.stringify({ email: told('e-mail'), password: told('password') }),
  });
  expect(login.status).toBe(204);
  const [recording, picture] = ['demo-voice', 'demo-painter'].map(
    (model) => new RegExp(`${model} +(\\S+) \\(`).exec(output.text)?.[1] ?? '',
  );
  expect(detectFormat(await readFile(recording ?? ''))).toBe('wav');
  expect(detectFormat(await readFile(picture ?? ''))).toBe('png');
  child.kill('SIGINT');
  expect(await exited).toBe(0);
  await expect(fetch(`${url}/models`)).rejects.toThrow('fetch failed');
  expect(await readdir(folder)).toEqual([]);
});

test('a failure is told in a line and exits 1', async () => {
  const missing = join(await temporaryFolder(), 'missing');
  const { output, exited } = quickstart(missing, ['--once']);
  expect(await exited).toBe(1);
  expect(output.text).toMatch(/\nquickstart failed: .*missing/);
  expect(output.text).not.toContain('    at ');
});

function quickstart(temporary: string, args: string[]) {
  const child = spawn(process.execPath, [SCRIPT, ...args], {
    env: { PATH: process.env['PATH'], TMPDIR: temporary, TEMP: temporary },
  });
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output.text += text));
  }
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    // Its own end stops its programs; a second signal would leave them.
    child.kill('SIGTERM');
    await exited;
  });
  return { child, output, exited };
}
