import { expect, test } from 'vitest';
import { agentHome } from './agent-program.js';

const BASE = { id: 'chat', type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:9/v1' };

async function homeWith(...services: readonly object[]) {
  const home = await agentHome();
  await home.writeConfig({ name: 'den', services });
  const limit = (line: string) =>
    home.run(['services', 'limit', ...line.split(' '), '--config', home.configFile]);
  return { home, limit };
}

test('limits are written to the service alone, and told with what takes them up', async () => {
  const other = { ...BASE, id: 'other' };
  const { home, limit } = await homeWith(BASE, other);
  const run = await limit('chat --slots 2 --hours 22:00-07:00 --foreign no');
  expect([run.code, run.stdout], run.stderr).toEqual([0, '']);
  expect(run.stderr).toContain('Changed chat: slots 2, hours 22:00-07:00, foreign no.');
  expect(run.stderr).toContain('restarted');
  const limited = { ...BASE, slots: 2, hours: '22:00-07:00', foreign: false };
  expect(await home.readConfig()).toEqual({ name: 'den', services: [limited, other] });
});

test('the defaults take the keys out of the file again', async () => {
  const limited = { ...BASE, slots: 2, hours: '22:00-07:00', foreign: false };
  const { home, limit } = await homeWith(limited);
  const run = await limit('chat --slots auto --hours always --foreign yes');
  expect(run.stderr).toContain('Changed chat: slots auto, hours always, foreign yes.');
  expect(await home.readConfig()).toEqual({ name: 'den', services: [BASE] });
});

test('the list shows when others may use a service, and where they may never', async () => {
  const never = { ...BASE, id: 'mine', hours: '22:00-07:00', foreign: false };
  const { home } = await homeWith(BASE, { ...BASE, id: 'night', hours: '22:00-07:00' }, never);
  const list = await home.run(['services', 'list', '--config', home.configFile]);
  const rows = list.stdout.trim().split('\n');
  expect(rows.map((row) => row.split('\t').at(-2))).toEqual(['always', '22:00-07:00', 'never']);
});

test('what is not named stays as it is', async () => {
  const { home, limit } = await homeWith({ ...BASE, slots: 2 });
  await limit('chat --foreign no');
  expect(await home.readConfig()).toMatchObject({ services: [{ slots: 2, foreign: false }] });
});

test.each([
  ['chatt --slots 2', 3, 'did you mean chat?'],
  ['chat', 2, 'name --slots, --hours or --foreign'],
  ['chat --slots none', 2, '--slots'],
  ['chat --slots 5000', 2, 'Write a whole number from 1 to 1024'],
  ['chat --hours 22:00', 2, '--hours'],
  ['chat --hours 22:00-22:00', 2, '--hours'],
  ['chat --foreign maybe', 2, '--foreign'],
])('%s exits %i and changes nothing', async (line, code, says) => {
  const { home, limit } = await homeWith(BASE);
  const run = await limit(line);
  expect({ code: run.code, stdout: run.stdout }, run.stderr).toEqual({ code, stdout: '' });
  expect(run.stderr).toContain(says);
  expect(await home.readConfig()).toEqual({ name: 'den', services: [BASE] });
});
