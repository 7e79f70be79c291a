/** A service of ComfyUI is added with the folder that holds its workflows. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { FILM_GRAPH } from '../../support/local-servers/comfyui-graphs.js';
import { startFakeComfyUi } from '../../support/local-servers/comfyui.js';
import { agentHome } from './agent-program.js';

async function addVideo(file: string | null) {
  const fake = await startFakeComfyUi();
  onTestFinished(() => fake.server.close());
  const home = await agentHome();
  await home.writeConfig({});
  const folder = join(home.folder, 'films');
  if (file !== null) {
    await mkdir(folder);
    await writeFile(join(folder, 'wan.json'), file);
  }
  const server = ['--type', 'video', '--backend', 'comfyui', '--base-url', fake.server.origin];
  const more = file === null ? [] : ['--workflows', folder];
  const args = ['services', 'add', '--config', home.configFile, '--no-prove', ...server, ...more];
  return { home, result: await home.run(args) };
}

test('its models are the files, and the folder stays relative to the configuration', async () => {
  const { home, result } = await addVideo(JSON.stringify(FILM_GRAPH));
  expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('It serves wan.') });
  expect(await home.readConfig()).toHaveProperty('services.0.workflows', 'films');
});

test.each([
  [null, 'a video service of ComfyUI needs them'],
  ['{"nodes": []}', 'File > Export (API)'],
])('with %j nothing is added, with exit 2', async (file, told) => {
  const { home, result } = await addVideo(file);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(told);
  expect(await home.readConfig()).not.toHaveProperty('services');
});
