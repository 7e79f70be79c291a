// Starts a coordinator and a demo agent with a fresh data folder, makes two chats, speech, its
// transcription, an image and a batch of jobs with the stock OpenAI client, and stays up until
// Ctrl-C. With --once it ends after these calls.
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import OpenAI from 'openai';
import { setUpMember, startCoordinator, startDemoAgent } from './demo-gateway.js';
import { stopPrograms } from './program.js';

const once = process.argv.slice(2).includes('--once');
/** Holds everything that the two programs write, and the files that the models make. */
let folder = '';
const interrupted = new Promise((/** @type {(signal: string) => void} */ resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
});

let exitCode = 0;
try {
  const signal = await Promise.race([tour(), interrupted]);
  if (signal !== undefined) console.log('\nStopping.');
  if (signal !== undefined && once) exitCode = 130;
} catch (error) {
  console.error(`\nquickstart failed: ${error instanceof Error ? error.message : String(error)}`);
  exitCode = 1;
}
await stopPrograms();
if (folder !== '') await rm(folder, { recursive: true, force: true });
process.exit(exitCode);

async function tour() {
  console.log('Inference Gateway: a coordinator, an agent at home, and a stock OpenAI client.\n');
  const { url, member, failed } = await start();
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: member.key });
  const models = await modelsByType(client);
  await plainChat(client, models.llm);
  await streamedChat(client, models.llm);
  const recording = await speech(client, models.tts);
  await transcription(client, models.stt, recording);
  await image(client, models.image);
  await batch(client, models);
  if (once) return;
  console.log('\nAll of it worked. Both files can be opened while this runs; Ctrl-C removes them.');
  printUsage(url, member, models.llm);
  throw new Error(await failed);
}

async function start() {
  folder = await mkdtemp(join(tmpdir(), 'inference-gateway-'));
  const { ready: url, ended: coordinatorEnded } = await startCoordinator(folder, 0);
  field('coordinator', url);
  const member = await setUpMember(folder, url);
  field('API key', member.key);
  const { ready: name, ended: agentEnded } = await startDemoAgent(folder);
  field('agent', `${name}, online with demo models`);
  return { url, member, failed: Promise.race([coordinatorEnded, agentEnded]) };
}

/** @param {OpenAI} client */
async function modelsByType(client) {
  const { data } = await client.models.list();
  field('models', data.map(({ id }) => id).join(', '));
  const first = (/** @type {string} */ type) => {
    const model = data.find((one) => 'service_type' in one && one.service_type === type);
    if (model === undefined) throw new Error(`GET /models lists no ${type} model of the agent.`);
    return model.id;
  };
  return { llm: first('llm'), tts: first('tts'), stt: first('stt'), image: first('image') };
}

/** @param {OpenAI} client @param {string} model */
async function plainChat(client, model) {
  const content = 'What is an inference gateway?';
  heading('A plain chat', content);
  const answer = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
  });
  const text = answer.choices[0]?.message.content;
  if (!text) throw new Error(`the answer holds no text: ${JSON.stringify(answer)}`);
  field(model, text);
}

/** @param {OpenAI} client @param {string} model */
async function streamedChat(client, model) {
  const content = 'And can you answer word by word?';
  heading('A streamed chat', content);
  const stream = await client.chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
    stream: true,
  });
  process.stdout.write(`  ${model.padEnd(12)} `);
  let text = '';
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta.content ?? '';
    text += delta;
    process.stdout.write(delta);
  }
  process.stdout.write('\n');
  if (text === '') throw new Error('the stream held no text.');
}

/** @param {OpenAI} client @param {string} model @returns {Promise<string>} the file */
async function speech(client, model) {
  const input = 'Hello from a machine at home.';
  heading('Speech', input);
  const voice = 'demo-high';
  const answer = await client.audio.speech.create({ model, input, voice, response_format: 'wav' });
  return keep('hello.wav', model, Buffer.from(await answer.arrayBuffer()));
}

/** @param {OpenAI} client @param {string} model @param {string} file */
async function transcription(client, model, file) {
  heading('Its transcription', basename(file));
  const { text, duration } = await client.audio.transcriptions.create({
    model,
    file: createReadStream(file),
    response_format: 'verbose_json',
  });
  if (!text) throw new Error('the transcription holds no text.');
  field(model, `${text} (${duration.toFixed(1)} s)`);
}

/** @param {OpenAI} client @param {string} model */
async function image(client, model) {
  const prompt = 'A lighthouse in the evening';
  heading('An image', prompt);
  const { data } = await client.images.generate({ model, prompt, size: '512x512' });
  const url = data?.[0]?.url;
  if (!url) throw new Error(`the answer holds no image: ${JSON.stringify(data)}`);
  // The URL needs the key, so that no one else sees the picture.
  const answer = await fetch(url, { headers: { authorization: `Bearer ${client.apiKey}` } });
  if (!answer.ok) throw new Error(`GET ${url} answered ${answer.status}.`);
  await keep('lighthouse.png', model, Buffer.from(await answer.arrayBuffer()));
}

/**
 * Two requests handed in together; each is a job, and is looked up when it is done.
 * @param {OpenAI} client @param {{ llm: string, image: string }} models
 */
async function batch(client, models) {
  heading('A batch of jobs', 'a chat and an image, later');
  const messages = [{ role: 'user', content: 'Take your time.' }];
  const requests = [
    { endpoint: '/v1/chat/completions', body: { model: models.llm, messages } },
    { endpoint: '/v1/images/generations', body: { model: models.image, prompt: 'A night train' } },
  ];
  /** @type {{ id: string }} */
  const { id } = await client.post('/batches', { body: { requests } });
  /** @type {{ jobs: { id: string }[] }} */
  const { jobs } = await client.get(`/batches/${id}`);
  for (const { id: jobId } of jobs) {
    /** @type {{ status: string, model: string, error: unknown, result_url?: string }} */
    const job = await client.get(`/jobs/${jobId}`, { query: { wait: 30 } });
    if (job.status !== 'PROCESSED') throw new Error(`job ${jobId}: ${JSON.stringify(job)}`);
    field(job.model, `${job.status}${job.result_url === undefined ? '' : ` ${job.result_url}`}`);
  }
}

/**
 * Saves what a model made, for as long as this runs.
 * @param {string} name @param {string} model @param {Buffer} bytes
 */
async function keep(name, model, bytes) {
  const files = join(folder, 'files');
  await mkdir(files, { recursive: true });
  const path = join(files, name);
  await writeFile(path, bytes);
  const isPng = bytes.toString('latin1', 1, 4) === 'PNG';
  const pixels = isPng ? `, ${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)} pixels` : '';
  // With --once the file is gone before anybody could open it.
  field(model, `${once ? name : path} (${Math.ceil(bytes.length / 1000)} kB${pixels})`);
  return path;
}

/** @param {string} url @param {import('./demo-gateway.js').Member} member @param {string} model */
function printUsage(url, { email, password, key }, model) {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  console.log('Any OpenAI client works now, too:\n');
  field('base URL', `${url}/v1`);
  field('API key', key);
  console.log(`\n  curl ${url}/v1/chat/completions \\`);
  console.log(`    -H 'Authorization: Bearer ${key}' \\`);
  console.log(`    -H 'Content-Type: application/json' -d '${body}'`);
  console.log('\nAnd the dashboard, with these calls in it:\n');
  field('address', url);
  field('e-mail', email);
  field('password', password);
  console.log('\nPress Ctrl-C to stop. Nothing is left behind.');
}

/** @param {string} title @param {string} question */
function heading(title, question) {
  console.log(`\n${title}`);
  field('you', question);
}

/** @param {string} name @param {string} value */
function field(name, value) {
  console.log(`  ${name.padEnd(12)} ${value}`);
}
