/** The pictures of README, as `npm run screenshots` leaves them, and how the script ends early. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const MAX_BYTES = 200 * 1024;
const script = fileURLToPath(new URL('../../scripts/screenshots.js', import.meta.url));

test.each(['home-light', 'queue-dark'])(
  '%s is a screen of 1440 by 900, and small',
  async (name) => {
    const picture = await readFile(new URL(`../../docs/screenshots/${name}.png`, import.meta.url));
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1440, 900]);
    expect(picture.length).toBeLessThanOrEqual(MAX_BYTES);
  },
);

test('without a browser the script says what to do, and leaves no demo behind', async () => {
  // Nothing on the PATH is a browser; Node itself is called by its path.
  const child = spawn(process.execPath, [script], { env: { PATH: '' } });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const code = await new Promise((done) => child.once('close', done));
  expect(code).toBe(1);
  expect(told).toContain('There is no Chromium on the PATH.');
  expect(told).toContain('apt-get install chromium');
});
