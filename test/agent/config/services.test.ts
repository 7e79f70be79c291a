import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig, locateConfig } from '@inference-gateway/agent/config/config';
import { EXIT } from '@inference-gateway/shared/program/command-error';
import { expect, test } from 'vitest';
import {
  FILM_GRAPH,
  PICTURE_GRAPH,
  SONG_GRAPH,
} from '../../support/local-servers/comfyui-graphs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const COMFY = { type: 'image', backend: 'comfyui', base_url: 'http://127.0.0.1:8188' };

type Files = Readonly<Record<string, unknown>>;

/** Loads a service with these files in the folder `flows` beside the configuration. */
async function load(files: Files | null, service: object = { workflows: 'flows' }) {
  const folder = await temporaryFolder();
  if (files !== null) await mkdir(join(folder, 'flows'));
  for (const [name, content] of Object.entries(files ?? {})) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(join(folder, 'flows', name), text);
  }
  const file = join(folder, 'config.json');
  await writeFile(file, JSON.stringify({ services: [{ ...COMFY, ...service }] }));
  return loadConfig(locateConfig(file));
}

/** The output, without the folder's name, and the exit code. */
async function refusal(files: Files | null, service?: object) {
  const error = await load(files, service).catch((thrown: unknown) => thrown);
  const { message, exitCode } = error as { message: string; exitCode: number };
  const lines = message.split('\n').slice(1);
  return { exitCode, lines: lines.map((line) => line.trim().replaceAll(/\/\S*flows\//g, '')) };
}

test('each file is a workflow by the name of the file', async () => {
  const files = {
    'song.json': SONG_GRAPH,
    'film v2.json': FILM_GRAPH,
    'notes.txt': 'no',
    '.a.json': '',
  };
  const { services } = await load(files);
  expect(services[0]?.workflows).toEqual([
    { id: 'film v2', graph: FILM_GRAPH },
    { id: 'song', graph: SONG_GRAPH },
  ]);
});

test('without a folder there are none', async () => {
  const { services } = await load(null, {});
  expect(services[0]?.workflows).toEqual([]);
});

test('all that is wrong is told at once, with the file', async () => {
  const misspelt = { ...PICTURE_GRAPH, '7': text('{{promt}} and {{colour}}') };
  const files = {
    'a.json': 'not json',
    'b.json': { nodes: [], links: [] },
    'c.json': { ...PICTURE_GRAPH, version: 0.4 },
    'd.json': misspelt,
    'e.json': { '1': text('fixed') },
    'f.json': { '1': text('{{prompt}} {{steps:many}} {{cfg:}}') },
    'g.json': {},
    'h.json': PICTURE_GRAPH,
  };
  const known = 'prompt, negative_prompt, lyrics, seed, n, width, height, steps, cfg, denoise';
  const more = 'seconds, fps, frames, image, image_2, image_3, mask';
  expect(await refusal(files)).toEqual({
    exitCode: EXIT.usage,
    lines: [
      'a.json is no JSON object: export the workflow again',
      "b.json is a workflow for ComfyUI's editor: save it with File > Export (API), " +
        'in older versions Save (API Format)',
      'c.json "version" is no node with class_type and inputs',
      'd.json has the unknown placeholder {{promt}}: did you mean prompt?',
      `d.json has the unknown placeholder {{colour}}: known are ${known}, ${more}`,
      'e.json has no {{prompt}}: put it where the caller’s text belongs',
      'f.json has {{steps:many}}: its default must be a number',
      'f.json has {{cfg:}}: its default must be a number',
      'g.json has no nodes: export the workflow again',
    ].map((line) => `services[0].workflows: ${line}`),
  });
});

test('a file that is too large is not read', async () => {
  const { lines } = await refusal({ 'a.json': `{"a": "${'x'.repeat(1024 * 1024)}"}` });
  expect(lines).toEqual(['services[0].workflows: a.json has 1048585 bytes: 1048576 are the most']);
});

test('more workflows than a service may have are refused', async () => {
  const names = Array.from({ length: 65 }, (_, i) => [`${i}.json`, PICTURE_GRAPH] as const);
  const { lines } = await refusal(Object.fromEntries(names));
  expect(lines[0]).toMatch(/has 65 workflows: 64 are the most$/);
});

test('a folder without workflows is a mistake', async () => {
  const { exitCode, lines } = await refusal({ 'readme.txt': '' });
  expect(exitCode).toBe(EXIT.usage);
  expect(lines[0]).toMatch(/has no \*\.json: save a workflow there with File > Export \(API\)$/);
});

test('a folder that is not there exits 3', async () => {
  const { exitCode, lines } = await refusal(null);
  expect(exitCode).toBe(EXIT.notFound);
  expect(lines[0]).toMatch(/^services\[0\]\.workflows cannot be read: ENOENT/);
});

test('another backend has no workflows', async () => {
  expect(await refusal({}, { backend: 'openai', workflows: 'flows' })).toEqual({
    exitCode: EXIT.usage,
    lines: [
      'services[0].workflows: backend openai has none: leave it away, or set backend to comfyui',
    ],
  });
});

test.each(['video', 'music'])('a %s service of ComfyUI needs them', async (type) => {
  const { lines } = await refusal(null, { type });
  expect(lines).toEqual([
    `services[0].workflows: a ${type} service of ComfyUI needs them: name a folder with *.json`,
  ]);
});

function text(written: string): object {
  return { class_type: 'CLIPTextEncode', inputs: { text: written } };
}
