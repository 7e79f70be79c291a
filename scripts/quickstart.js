// Starts a coordinator and a demo agent with a fresh data folder, makes a plain and a streamed chat
// with the stock OpenAI client, and stays up until Ctrl-C. With --once it ends after the two calls.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { setUpMember, startCoordinator, startDemoAgent } from './demo-gateway.js';
import { stopPrograms } from './program.js';

const once = process.argv.slice(2).includes('--once');
/** Holds everything that the two programs write. */
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
  const { url, key, failed } = await start();
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
  const model = await firstChatModel(client);
  await plainChat(client, model);
  await streamedChat(client, model);
  if (once) return;
  printUsage(url, key, model);
  throw new Error(await failed);
}

async function start() {
  folder = await mkdtemp(join(tmpdir(), 'inference-gateway-'));
  const { ready: url, ended: coordinatorEnded } = await startCoordinator(folder, 0);
  field('coordinator', url);
  const key = await setUpMember(folder, url);
  field('API key', key);
  const { ready: name, ended: agentEnded } = await startDemoAgent(folder);
  field('agent', `${name}, online with demo models`);
  return { url, key, failed: Promise.race([coordinatorEnded, agentEnded]) };
}

/** @param {OpenAI} client */
async function firstChatModel(client) {
  const { data } = await client.models.list();
  const model = data.find((one) => 'service_type' in one && one.service_type === 'llm');
  if (model === undefined) throw new Error('GET /models lists no chat model of the demo agent.');
  field('models', data.map(({ id }) => id).join(', '));
  return model.id;
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

/** @param {string} url @param {string} key @param {string} model */
function printUsage(url, key, model) {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  console.log('\nBoth worked. While this runs, any OpenAI client works too:\n');
  field('base URL', `${url}/v1`);
  field('API key', key);
  console.log(`\n  curl ${url}/v1/chat/completions \\`);
  console.log(`    -H 'Authorization: Bearer ${key}' \\`);
  console.log(`    -H 'Content-Type: application/json' -d '${body}'`);
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
