import { readFileSync } from 'node:fs';
import { JAN } from '@inference-gateway/agent/backends/jan/dialect';
import { KOKORO } from '@inference-gateway/agent/backends/kokoro/dialect';
import { LEMONADE } from '@inference-gateway/agent/backends/lemonade/dialect';
import { LLAMA_SWAP } from '@inference-gateway/agent/backends/llama-swap/dialect';
import { LM_STUDIO } from '@inference-gateway/agent/backends/lm-studio/dialect';
import { LOCALAI } from '@inference-gateway/agent/backends/localai/dialect';
import { MLX_LM } from '@inference-gateway/agent/backends/mlx-lm/dialect';
import { SGLANG } from '@inference-gateway/agent/backends/sglang/dialect';
import { TABBYAPI } from '@inference-gateway/agent/backends/tabbyapi/dialect';
import * as webui from '@inference-gateway/agent/backends/text-generation-webui/dialect';
import { VLLM } from '@inference-gateway/agent/backends/vllm/dialect';
import { LLAMA_CPP_DROPS } from '@inference-gateway/agent/backends/openai/dialect';
import {
  PLACEHOLDERS,
  placeholdersOf,
  readGraph,
} from '@inference-gateway/agent/backends/comfyui/workflow';
import { valueOf } from '@inference-gateway/agent/backends/comfyui/make-media';
import { parseConfig } from '@inference-gateway/agent/config/schema';
import { expect, test } from 'vitest';
import { LEAVING } from '../agent/backends/leaving-kinds.js';
import type { Way } from '../agent/backends/leaving-kinds.js';
import { refusalOf } from '../support/local-servers/comfyui-nodes.js';
import type { Graph } from '../support/local-servers/comfyui-nodes.js';
import { tableRows } from '../support/markdown-table.js';

const text = readFileSync(new URL('../../docs/local-servers.md', import.meta.url), 'utf8');
const [service = '', workflow = ''] = [...text.matchAll(/```json\n(.*?)```/gs)].map(
  ([, json = '']) => json,
);

test('docs/local-servers.md tells every placeholder, and what stands there otherwise', () => {
  const told = tableRows(text, 'Placeholder').flatMap(([names = '', , otherwise = '']) =>
    [...names.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => [name, otherwise]),
  );
  expect(new Set(told.map(([name]) => name))).toEqual(new Set(Object.keys(PLACEHOLDERS)));
  for (const [name = '', otherwise = ''] of told) {
    const value = String(valueOf({ name, fallback: null }, new Map()));
    const words: Record<string, string> = { seed: 'random', prompt: '', '': 'empty' };
    const isPicture = name.startsWith('image') || name === 'mask';
    const expected = isPicture ? 'refused' : (words[name] ?? words[value] ?? value);
    expect(`${name}: ${otherwise}`).toBe(`${name}: ${expected}`);
  }
});

test.each<[string, readonly string[] | undefined]>([
  ['llama-server', LLAMA_CPP_DROPS],
  ['llama-swap', LLAMA_SWAP.dropFields],
  ['jan', JAN.dropFields],
  ['lemonade', LEMONADE.dropFields],
  ['vllm', VLLM.dropFields],
  ['sglang', SGLANG.dropFields],
  ['localai', LOCALAI.dropFields],
  ['lm-studio', LM_STUDIO.dropFields],
  ['mlx-lm', MLX_LM.dropFields],
  ['tabbyapi', TABBYAPI.dropFields],
  ['text-generation-webui', webui.TEXT_GENERATION_WEBUI.dropFields],
  ['kokoro', KOKORO.dropFields],
])('it tells what callers cannot send to %s', (backend, dropped = []) => {
  const rows = tableRows(text, 'Backend').filter(([names]) => names?.includes(`\`${backend}\``));
  const told = rows.flatMap(([, fields = '']) =>
    [...fields.matchAll(/`(\w+)`/g)].map(([, field = '']) => field),
  );
  expect(told.toSorted()).toEqual([...dropped].toSorted());
});

test('it tells what ends the work of every backend, as is tested', () => {
  const told = tableRows(text, 'Server').flatMap(([servers = '', types = '', ends = '']) =>
    quoted(servers).flatMap((name) =>
      quoted(types).map((type) => `${name} ${type}: ${wayIn(ends)}`),
    ),
  );
  const tested = LEAVING.map(({ backend, type, way }) => `${backend} ${type}: ${way}`);
  expect(told.toSorted()).toEqual(tested.toSorted());
});

function wayIn(ends: string): Way {
  if (ends.startsWith('`POST /')) return 'called';
  const ways: Record<string, Way> = {
    'the connection closes': 'closed',
    'the connection closes, always of a stream': 'streamed',
    nothing: 'outlived',
  };
  const way = ways[ends];
  if (way === undefined) throw new Error(`no test knows this way to end: ${ends}`);
  return way;
}

function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
}

test('its workflow is one that can be run', () => {
  const read = readGraph(workflow);
  if (read.kind !== 'graph') throw new Error(read.faults.join('; '));
  expect(placeholdersOf(read.graph).map(({ name }) => name)).toContain('prompt');
  const files = { checkpoints: ['sd_xl_turbo_1.0.safetensors'], uploads: new Map() };
  const filled = workflow.replaceAll(/"\{\{\w+:(\d+)\}\}"/g, '$1').replace('"{{seed}}"', '1');
  expect(refusalOf(JSON.parse(filled) as Graph, files)).toBeNull();
});

test('its service is one that the configuration takes', () => {
  expect(parseConfig({ services: [JSON.parse(service)] }).problems).toEqual([]);
});
