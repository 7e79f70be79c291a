import { createHash } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Budget } from '@inference-gateway/coordinator/core/usage/budget';
import { FileInspector, MAX_FILE_BYTES } from '@inference-gateway/coordinator/http/bodies/upload';
import { Spool } from '@inference-gateway/coordinator/http/bodies/spool';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureOf } from '../../../api/requests.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { tone } from '../../../support/sound.js';
import { picture } from '../../../support/pictures.js';
import { until } from '../../../support/until.js';
import { startUploadServer } from './upload-server.js';
import type { UploadServer } from './upload-server.js';

const MIB = 1024 * 1024;
const WAV = tone(0.5);

function form(entries: readonly (readonly [string, string | Buffer])[]): FormData {
  const made = new FormData();
  for (const [name, value] of entries) {
    if (typeof value === 'string') made.append(name, value);
    else made.append(name, new Blob([new Uint8Array(value)]), 'file.bin');
  }
  return made;
}

/** Sends the head of a request, written by hand; the test writes the body to the socket. */
async function post(server: UploadServer, length: string): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const type = 'content-type: multipart/form-data; boundary=b';
  socket.write(`POST / HTTP/1.1\r\nhost: gateway\r\n${type}\r\n${length}\r\n\r\n`);
  return socket;
}

const part = (head: string, body: string): string =>
  `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
const FILE = part('name="file"; filename="a.wav"', WAV.toString('latin1'));

/** Sends a complete body, written by hand. */
function sendText(server: UploadServer, body: string) {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  return server.send({ body: Buffer.from(body, 'latin1'), headers });
}

describe('a form is read', () => {
  it('with its fields in any order, and its file as it was sent', async () => {
    const server = await startUploadServer('transcriptions');
    const read = await server.read(
      form([
        ['list[]', 'one'],
        ['file', WAV],
        ['model', 'whisper'],
        ['list[]', 'two'],
      ]),
    );
    expect(read.fields).toEqual({ 'list[]': ['one', 'two'], model: ['whisper'] });
    const sha256 = createHash('sha256').update(WAV).digest('hex');
    const file = { name: 'file', contentType: 'audio/wav', bytes: WAV.length, sha256 };
    expect(read).toMatchObject({ files: [file], spooled: 1 });
  });

  it('with its files in the order in which they came, image[] being image', async () => {
    const server = await startUploadServer('edits');
    const images = [0, 1, 2].map((seed) => picture({ seed }));
    const read = await server.read(
      form([
        ['image[]', images[0] ?? WAV],
        ['mask', images[1] ?? WAV],
        ['image', images[2] ?? WAV],
      ]),
    );
    expect(read.files.map(({ name }) => name)).toEqual(['image', 'mask', 'image']);
    const hashes = images.map((image) => createHash('sha256').update(image).digest('hex'));
    expect(read.files.map(({ sha256 }) => sha256)).toEqual(hashes);
  });

  it('with as many parts as are allowed', async () => {
    const server = await startUploadServer('transcriptions');
    const fields = Array.from({ length: 63 }, (_, i) => [`field-${i}`, 'x'] as const);
    const read = await server.read(form([...fields, ['file', WAV]]));
    expect(Object.keys(read.fields)).toHaveLength(63);
  });

  it('with a file of exactly 26,214,400 bytes', async () => {
    const server = await startUploadServer('transcriptions');
    const most = Buffer.concat([WAV, Buffer.alloc(26_214_400 - WAV.length)]);
    expect(MAX_FILE_BYTES).toBe(26_214_400);
    const read = await server.read(form([['file', most]]));
    expect(read.files[0]?.bytes).toBe(26_214_400);
  });
});

const many = (count: number) => Array.from({ length: count }, () => ['x', 'y'] as const);
const typed = (type: string) => ({ body: '{}', headers: { 'content-type': type } });

describe('a form is refused, and nothing is left of it,', () => {
  const large = Buffer.concat([WAV, Buffer.alloc(25 * MIB)]);

  it.each<[string, FormData, object]>([
    ['without a file', form([['model', 'm']]), { code: 'missing_required_parameter' }],
    ['with a text for a file', form([['file', 'RIFF']]), { code: 'missing_required_parameter' }],
    ['with an empty file', form([['file', Buffer.alloc(0)]]), { code: 'unsupported_file_type' }],
    ['with a tiny file', form([['file', Buffer.from('RI')]]), { code: 'unsupported_file_type' }],
    [
      'with two files',
      form([
        ['file', WAV],
        ['file', WAV],
      ]),
      { code: 'invalid_value' },
    ],
    ['with a large file', form([['file', large]]), { code: 'file_too_large', status: 413 }],
    [
      'with a large field',
      form([
        ['file', WAV],
        ['x', 'y'.repeat(MIB)],
      ]),
      { param: 'x' },
    ],
    ['with large fields', form(many(3).map(() => ['x', 'y'.repeat(MIB / 2)])), { param: 'x' }],
    ['with 65 parts', form([...many(64), ['file', WAV]]), { code: 'invalid_multipart' }],
    ['with an unknown file', form([['audio', WAV]]), { code: 'unsupported_value' }],
  ])('%s', async (_, body, expected) => {
    const server = await startUploadServer('transcriptions');
    expect(await failureOf(await server.send(body))).toMatchObject(expected);
    expect(await server.left()).toBe(0);
  });

  const end = '--b--\r\n';
  it.each([
    ['that breaks off in a file', FILE.slice(0, -100), 'Unexpected end'],
    ['that breaks off in a head', `${FILE}--b\r\ncontent-`, 'Unexpected end'],
    ['without its last boundary', FILE, 'Unexpected end'],
    ['of another boundary', `--other\r\n\r\n${end.replace('b', 'other')}`, 'Unexpected end'],
    ['with a field without a name', part('x="y"', 'z') + end, 'no name'],
    ['with a file without a name', part('filename="a"', 'z') + end, 'no name'],
  ])('%s', async (_, body, message) => {
    const server = await startUploadServer('transcriptions');
    const failure = await failureOf(await sendText(server, body));
    expect(failure).toMatchObject({ status: 400, code: 'invalid_multipart' });
    expect(failure.message).toContain(message);
    expect(await server.left()).toBe(0);
  });

  it('whose file begins in the very piece in which a field turns out to be wrong', async () => {
    const server = await startUploadServer('transcriptions');
    const socket = await post(server, 'transfer-encoding: chunked');
    const body = `${part('name="x"', 'y'.repeat(MIB))}${FILE.slice(0, -100)}`;
    // A piece of 64 KiB contains the end of the field and the beginning of the file.
    socket.write(`${body.length.toString(16)}\r\n${body}\r\n`, 'latin1');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('413 Payload Too Large');
    expect(await server.left()).toBe(0);
  });

  it('without a boundary, or as anything but a form', async () => {
    const server = await startUploadServer('transcriptions');
    const none = await failureOf(await server.send(typed('multipart/form-data')));
    expect(none).toMatchObject({ status: 400, code: 'invalid_multipart' });
    const json = await failureOf(await server.send(typed('application/json')));
    expect(json).toMatchObject({ status: 415, code: 'unsupported_content_type' });
  });

  it('as soon as it is announced to be larger than any form can be', async () => {
    const server = await startUploadServer('transcriptions');
    const socket = await post(server, `content-length: ${27 * MIB}`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('file_too_large');
  });
});

describe('a caller who leaves leaves nothing behind', () => {
  it('in the middle of a file', async () => {
    const server = await startUploadServer('transcriptions');
    const socket = await post(server, 'content-length: 1000000');
    socket.write(FILE.slice(0, -100), 'latin1');
    await until(async () => (await server.left()) === 1);
    socket.destroy();
    await until(() => server.refused.length === 1);
    expect(await server.left()).toBe(0);
  });

  it('before the reading has begun', async () => {
    const server = await startUploadServer('transcriptions', async ({ res }) => {
      await once(res, 'close');
    });
    const socket = await post(server, 'content-length: 1000000');
    socket.write(FILE, 'latin1');
    socket.destroy();
    await until(() => server.refused.length === 1);
    expect(server.refused).toEqual(['invalid_multipart']);
  });
});

it('where the disk takes no more, it is the gateway that says so', async () => {
  const server = await startUploadServer('transcriptions');
  await rm(server.folder, { recursive: true });
  const failure = await failureOf(await server.send(form([['file', WAV]])));
  expect(failure).toMatchObject({ status: 503, code: 'storage_unavailable' });
  await mkdir(server.folder);
  expect((await server.read(form([['file', WAV]]))).files).toHaveLength(1);
});

it('a file ends where its member’s share of the disk does', async () => {
  const budget = new Budget({ totalBytes: 1_000, memberBytes: 500 });
  const rule = {
    name: 'file',
    family: 'audio',
    formats: ['wav'],
    required: true,
    most: 1,
  } as const;
  const inspector = new FileInspector(rule, budget.open('anna'));
  const passing = pipeline(
    Readable.from([WAV.subarray(0, 400), WAV.subarray(400, 800)]),
    inspector,
  );
  inspector.resume();
  await expect(passing).rejects.toMatchObject({ code: 'capacity_exhausted' });
});

it('at its start the spool removes what an earlier process left behind', async () => {
  const folder = join(await temporaryFolder(), 'uploads');
  await mkdir(folder);
  await writeFile(join(folder, 'left'), 'behind');
  const path = new Spool(folder).newPath();
  await expect(stat(join(folder, 'left'))).rejects.toThrow('ENOENT');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(path.startsWith(folder)).toBe(true);
});
