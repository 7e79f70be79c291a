import { DecodedFile } from '@inference-gateway/agent/openai-wire/json-with-files';
import { readMediaList } from '@inference-gateway/agent/openai-wire/media-list';
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';

const FILE = randomBytes(200_001);
const BASE64 = FILE.toString('base64');

test.each([1, 4_095, 65_536, 1_000_000])('a large file arrives in pieces of %i', async (size) => {
  const json = JSON.stringify({ created: 1, data: [{ b64_json: BASE64, revised_prompt: 'é"\\' }] });
  const [file] = await filesOf(json, size);
  expect(bytesOf(file).equals(FILE)).toBe(true);
  expect(file?.revisedPrompt).toBe('é"\\');
});

test.each([
  ['with line breaks', JSON.stringify(BASE64.replaceAll(/.{76}/g, '$&\r\n'))],
  ['with escaped slashes', JSON.stringify(BASE64).replaceAll('/', '\\/')],
  ['with characters by their numbers', JSON.stringify(BASE64).replaceAll('+', '\\u002b')],
  ['without padding', JSON.stringify(BASE64.replaceAll('=', ''))],
  ['as a data: URL', JSON.stringify(`data:image/png;base64,${BASE64}`)],
])('base64 %s is decoded in pieces that end anywhere', async (_form, text) => {
  for (const size of [4_093, 65_536]) {
    const [file] = await filesOf(`{"data":[{"b64_json":${text}}]}`, size);
    expect(bytesOf(file).equals(FILE)).toBe(true);
  }
});

test('small and large files keep their order', async () => {
  const others = [Buffer.from('one'), FILE, Buffer.from('two'), FILE.subarray(1)];
  const data = others.map((file) => ({ b64_json: file.toString('base64') }));
  const files = await filesOf(JSON.stringify({ data }), 10_000);
  expect(files.map((file) => bytesOf(file).equals(others.shift() ?? FILE))).not.toContain(false);
});

test('a large file that breaks off is no file', async () => {
  const json = JSON.stringify({ data: [{ b64_json: BASE64 }] });
  await expect(filesOf(json.slice(0, 100_000), 4_096)).rejects.toThrow(/JSON without a file/);
});

test('a server cannot name a file that it did not send', async () => {
  const json = JSON.stringify({ data: [{ b64_json: { file: 0 } }] });
  await expect(filesOf(json, 10)).rejects.toThrow(/JSON without a file/);
});

async function filesOf(json: string, size: number) {
  const list = await readMediaList(pieces(Buffer.from(json), size));
  if ('error' in list) throw new Error(list.error.message);
  return list.files;
}

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function bytesOf(file: Awaited<ReturnType<typeof filesOf>>[number] | undefined): Buffer {
  const base64 = file?.base64 ?? '';
  return base64 instanceof DecodedFile
    ? Buffer.concat(base64.pieces)
    : Buffer.from(base64, 'base64');
}
