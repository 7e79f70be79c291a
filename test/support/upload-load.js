/**
 * Load from a separate process, so that it does not disturb measurements. `listen <ms>` is a local
 * server that pauses this long after each piece that it reads. `send <url> <key> <count> <bytes>
 * <times>` is `count` concurrent callers that each upload a file `times` times; it prints the
 * statuses of their answers.
 */
import { createServer, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const PIECE = Buffer.alloc(64 * 1024, 1);
const [mode, ...args] = process.argv.slice(2);

if (mode === 'listen') listen(Number(args[0]));
else await send(args);

function listen(pauseMs) {
  const server = createServer((incoming, response) => void answer(incoming, response, pauseMs));
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
  });
}

async function answer(incoming, response, pauseMs) {
  let bytes = 0;
  try {
    for await (const piece of incoming) {
      bytes += piece.length;
      if (pauseMs > 0) await pause(pauseMs);
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ object: 'list', data: [], text: `${bytes} bytes` }));
  } catch {
    response.destroy();
  }
}

async function send([url, key, count, bytes, times]) {
  const target = { url, key, bytes: Number(bytes), times: Number(times) };
  const calls = Array.from({ length: Number(count) }, () => uploadAll(target));
  const statuses = (await Promise.all(calls)).flat();
  process.stdout.write(`${JSON.stringify(statuses)}\n`);
}

async function uploadAll({ times, ...target }) {
  const statuses = [];
  for (let i = 0; i < times; i++) statuses.push(await upload(target));
  return statuses;
}

function upload({ url, key, bytes }) {
  const head = Buffer.from(
    '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nplain\r\n' +
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
  );
  const tail = Buffer.from('\r\n--b--\r\n');
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'multipart/form-data; boundary=b',
    'content-length': head.length + bytes + tail.length,
  };
  return new Promise((resolve, reject) => {
    const call = request(`${url}/v1/audio/transcriptions`, { method: 'POST', headers });
    call.once('error', reject);
    call.once('response', (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    void writeForm(call, [head, ...filePieces(bytes), tail]);
  });
}

async function writeForm(call, pieces) {
  for (const piece of pieces) {
    if (!call.write(piece)) await new Promise((done) => call.once('drain', done));
  }
  call.end();
}

/** A WAV with a correct header, in pieces that share memory. */
function filePieces(bytes) {
  const wave = Buffer.alloc(44);
  wave.write('RIFF', 0);
  wave.writeUInt32LE(bytes - 8, 4);
  wave.write('WAVEfmt ', 8);
  wave.set([16, 0, 0, 0, 1, 0, 1, 0], 16);
  wave.writeUInt32LE(16_000, 24);
  wave.writeUInt32LE(32_000, 28);
  wave.set([2, 0, 16, 0], 32);
  wave.write('data', 36);
  wave.writeUInt32LE(bytes - wave.length, 40);
  const pieces = [wave];
  let left = bytes - wave.length;
  for (; left > PIECE.length; left -= PIECE.length) pieces.push(PIECE);
  return [...pieces, PIECE.subarray(0, left)];
}
