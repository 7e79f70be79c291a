import { multipartForm } from '@inference-gateway/agent/backends/multipart';
import type { FormBody, FormFile } from '@inference-gateway/agent/backends/multipart';
import { expect, test } from 'vitest';

const CONTENT = Buffer.from('--gateway\r\nnot an end\r\n\0\xff', 'latin1');

function file(changes: Partial<FormFile> = {}): FormFile {
  const about = { name: 'file', filename: 'a.wav', contentType: 'audio/wav' };
  return { ...about, bytes: CONTENT.length, read: () => inTwo(CONTENT), ...changes };
}

async function* inTwo(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 5);
  yield bytes.subarray(5);
}

test('a form is read as it was written', async () => {
  const fields: [string, string][] = [
    ['prompt', 'a\r\nb "c" ü'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
  ];
  const { form } = await read(multipartForm(fields, [file()]));
  expect(form.get('prompt')).toBe('a\r\nb "c" ü');
  expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment']);
  const sent = form.get('file') as File;
  expect([sent.name, sent.type]).toEqual(['a.wav', 'audio/wav']);
  expect(Buffer.from(await sent.arrayBuffer()).equals(CONTENT)).toBe(true);
});

test('its size is told before it is sent', async () => {
  const body = multipartForm([['a', 'ü']], [file(), file({ name: 'mask' })]);
  expect((await read(body)).bytes).toHaveLength(body.bytes);
  expect((await read(multipartForm([], []))).bytes).toHaveLength(multipartForm([], []).bytes);
});

test('names cannot begin new headers', async () => {
  const body = multipartForm([], [file({ filename: 'x"\r\nContent-Type: text/html\r\n\r\n.wav' })]);
  const text = (await read(body)).bytes.toString('latin1');
  expect(text).toContain('filename="x%22%0D%0AContent-Type: text/html%0D%0A%0D%0A.wav"');
});

async function read({ chunks, contentType }: FormBody): Promise<{ form: FormData; bytes: Buffer }> {
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  const whole = Buffer.concat(pieces);
  const headers = { 'content-type': contentType };
  return { form: await new Response(new Uint8Array(whole), { headers }).formData(), bytes: whole };
}
