// A demo with long names, three machines of one member and a hundred jobs, in this process: for the
// check of the layout, and for pictures of every screen.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashPassword } from '@inference-gateway/coordinator/accounts/password';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import { emailOf } from '@inference-gateway/coordinator/demo/cast';
import { enliven } from '@inference-gateway/coordinator/demo/demo';
import {
  foundMachines,
  foundMembers,
  foundNetworks,
} from '@inference-gateway/coordinator/demo/past/found-members';
import { recordPast } from '@inference-gateway/coordinator/demo/past/record-past';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { newSecret } from '@inference-gateway/shared/ids';

const ROUTES = join('packages', 'coordinator', 'web', 'src', 'shell', 'screens.tsx');
const CONSOLE = '/api/console/v1';

/** A list that has an object for each screen of one. @type {Readonly<Record<string, string>>} */
const LISTS = {
  '/jobs/:id': `${CONSOLE}/jobs?status=PROCESSED&limit=1`,
  '/batches/:id': `${CONSOLE}/batches?limit=1`,
  '/providers/:id': `${CONSOLE}/my/provider.list`,
  '/usage/:id': `${CONSOLE}/my/usage.recent?args=${encodeURIComponent('{"limit":1,"after":null}')}`,
};

/** Of the admin, beside those of the demo, so that the lists have several pages' worth. */
const MORE_JOBS = 40;

/**
 * Every name that the demo shows, in a long form: people, machines, networks, keys and labels of up
 * to 80 characters, models as Hugging Face names them, some without a place to break a line.
 * @type {Readonly<Record<string, string>>}
 */
const LONG_NAMES = {
  Anna: 'Annabella-Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh',
  Ben: 'Benjamin Maximilian Alexander von und zu Hohenlohe-Waldenburg-Schillingsfürst',
  Chiara: 'ChiaraMariaFrancescaDellaScalaDiSanMartinoInPensilisEGuglionesi',
  'gaming-pc': 'gaming_pc_with_a_large_graphics_card_under_the_desk_in_the_attic',
  'mac-mini': 'mac-mini-on-the-shelf-behind-the-printer-in-the-room-of-the-children.local',
  workstation: 'WORKSTATION-0042.rendering.department.example-university.internal',
  'living-room': 'living-room-computer-that-is-only-on-in-the-evening-and-at-weekends',
  friends: 'friends_of_the_association_for_the_promotion_of_local_inference',
  'film-club': 'The Thursday evening film club of the neighbourhood, founded in 1987',
  editor: 'editor_of_the_documentation_on_the_second_workstation_in_the_office',
  'home-assistant': 'home-assistant-living-room-speaker-and-kitchen-display-integration',
  Postcards: 'Postcards_for_everybody_who_has_written_to_us_since_last_Christmas',
  'Nightly summaries':
    'Nightly summaries of all articles that the reading group has collected, with sources',
  'llama-3.1-8b-instruct':
    'hf.co/unsloth-community-quantizations/Meta-Llama-3.1-8B-Instruct-128K-GGUF:Q4_K_M',
  'flux.1-schnell': 'black-forest-labs/FLUX.1-schnell-quantized-for-twelve-gigabytes-of-memory',
  'gemma-3-12b-it': 'hf.co/bartowski/google_gemma-3-12b-it-qat-GGUF:Q4_0_with_vision_projector',
  'whisper-large-v3-turbo': 'deepdml/faster-whisper-large-v3-turbo-ct2-int8_float16-multilingual',
  'llama-3.3-70b-instruct': 'hf.co/bartowski/Llama-3.3-70B-Instruct-abliterated-GGUF:IQ2_XXS',
  'llm-llama': 'llm_llama_server_with_all_quantizations_on_the_first_graphics_card',
};
const LONG_EMAIL = (/** @type {string} */ name) =>
  `${name}.of.the.department.of.local.inference@mail.example-university.org`;

const NAMES = new RegExp(`"(?:${Object.keys(LONG_NAMES).map(escaped).join('|')})"`, 'g');
const EMAIL = /\b(\w+)@example\.org/g;

/** Only the browser reads these answers: its requests contain ids, and few names. */
const ANSWERS = '**/{api/console,v1}/**';

/**
 * Lengthens all names in what the coordinator answers to the context's pages.
 * @param {import('playwright-core').BrowserContext} context
 */
export async function lengthenNames(context) {
  await context.route(ANSWERS, async (route) => {
    const url = shortened(route.request().url());
    const answer = await route.fetch({ url }).catch(() => null);
    // The page is gone, or the gateway.
    if (answer === null) return route.abort().catch(() => {});
    const isJson = answer.headers()['content-type']?.includes('json') ?? false;
    if (!isJson) return route.fulfill({ response: answer }).catch(() => {});
    const body = lengthened(await answer.text());
    return route.fulfill({ response: answer, body }).catch(() => {});
  });
}

/** @param {string} json */
function lengthened(json) {
  return json
    .replaceAll(NAMES, (name) => JSON.stringify(LONG_NAMES[JSON.parse(name)]))
    .replaceAll(EMAIL, (_, name) => LONG_EMAIL(name));
}

/** Long names in the query, in the coordinator's form. @param {string} url */
function shortened(url) {
  return Object.entries(LONG_NAMES).reduce(
    (left, [short, long]) => left.replaceAll(encodeURIComponent(long), encodeURIComponent(short)),
    url,
  );
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/**
 * @typedef {{
 *   address: string,
 *   admin: { email: string, key: string },
 *   member: { email: string },
 *   password: string,
 *   stop: () => Promise<void>,
 * }} FullDemo
 */

/** @returns {Promise<FullDemo>} */
export async function startFullDemo() {
  const dataDir = await mkdtemp(join(tmpdir(), 'gateway-demo-'));
  const settings = { ...loadConfig({}, {}), port: 0, dataDir, drainMs: 200 };
  const password = newSecret('gwk');
  const scene = await found(dataDir, { password, retentionMs: settings.retentionMs });
  const coordinator = await startCoordinator({ ...settings, logLevel: 'silent' });
  const demo = enliven(scene, coordinator.address);
  const { secret: key } = scene.members.Anna;
  await submit(coordinator.address, { key, count: MORE_JOBS });
  await submit(coordinator.address, { key: scene.members.Ben.secret, count: 1 });
  return {
    address: coordinator.address,
    admin: { email: emailOf('Anna'), key },
    member: { email: emailOf('Ben') },
    password,
    async stop() {
      demo.stop();
      await coordinator.drain();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** @param {string} dataDir @param {{ password: string, retentionMs: number }} options */
async function found(dataDir, { password, retentionMs }) {
  const store = await openStore(dataDir);
  try {
    const now = Date.now();
    const members = await foundMembers(store, await hashPassword(password), now);
    const networks = await foundNetworks(store, members, now);
    const owners = { ...members, Chiara: members.Anna, Dov: members.Anna };
    const machines = await foundMachines(store, { members: owners, networks, now });
    const scene = { members, machines };
    await recordPast(store.by('demo'), { scene, dataDir, retentionMs, now });
    return scene;
  } finally {
    await store.close();
  }
}

/** @param {string} address @param {{ key: string, count: number }} jobs Of one batch. */
async function submit(address, { key, count }) {
  const content = 'Summarize the attached-minutes-of-the-last-general-meeting in three sentences.';
  const requests = Array.from({ length: count }, (_, index) => ({
    endpoint: '/v1/chat/completions',
    body: {
      model: 'mistral-small-24b-instruct',
      messages: [{ role: 'user', content: `${content} Part ${index + 1}.` }],
    },
  }));
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ label: 'Nightly summaries', requests });
  const answer = await fetch(`${address}/v1/batches`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`the batch was refused: ${await answer.text()}`);
}

/**
 * The path of every screen, from the router's table. The tabs of a screen with parts are its parts;
 * a screen of one object shows the first one.
 * @param {import('playwright-core').Page} page Of a member who is logged in.
 * @returns {Promise<readonly string[]>}
 */
export async function everyScreen(page) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const routes = [
    ...(await readFile(join(root, ROUTES), 'utf8')).matchAll(/<Route path="([^"]+)"/g),
  ];
  const screens = [];
  for (const [, path = ''] of routes) {
    if (path.endsWith('?')) screens.push(...(await partsOf(page, path.replace(/\/:\w+\?$/, ''))));
    else screens.push(path.includes(':') ? await firstOf(page, path) : path);
  }
  return [...screens, '/no-such-screen'];
}

/** @param {import('playwright-core').Page} page @param {string} path */
async function partsOf(page, path) {
  await page.goto(path);
  await page.locator('main h1').waitFor();
  const tabs = await page.locator('main nav.tabs a').all();
  const hrefs = await Promise.all(tabs.map((tab) => tab.getAttribute('href')));
  return hrefs.length === 0 ? [path] : hrefs.map(String);
}

/** @param {import('playwright-core').Page} page @param {string} path */
async function firstOf(page, path) {
  const list = LISTS[path];
  if (list === undefined) throw new Error(`LISTS has no list with an object for ${path}`);
  const answer = await page.request.get(list);
  /** @typedef {{ id?: string, request_id?: string }} Listed */
  /** @type {Listed[] | { data?: Listed[], requests?: Listed[] }} */
  const objects = await answer.json();
  const [first] = Array.isArray(objects) ? objects : (objects.data ?? objects.requests ?? []);
  const id = first?.id ?? first?.request_id;
  if (id === undefined) throw new Error(`GET ${list} lists nothing`);
  return path.replace(':id', id);
}

/**
 * For `page.evaluate`: resolves when the page has drawn it. An empty font is the page's own.
 * @param {string} font As in CSS.
 */
export function useFont(font) {
  return `(() => {
    document.documentElement.style.setProperty('--font', '${font}');
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  })()`;
}
