/** What the programs print as JSON is what `docs/cli` says, field by field. */
import { checkSpool } from '@inference-gateway/agent/checks/files';
import { configLocation } from '@inference-gateway/agent/config/file';
import { checkFreeSpace } from '@inference-gateway/coordinator/cli/checks/folder';
import type { ProviderView } from '@inference-gateway/coordinator/core/routing/links';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answer, reply } from '../support/fake-behaviours.js';
import { fakeTools } from '../support/fake-tools.js';
import { fakeNvidiaSmi } from '../support/fake-nvidia-smi.js';
import { startKoboldCpp } from '../support/local-servers/koboldcpp.js';
import { leafCommands } from '../support/command-tree.js';
import { runCommand } from '../support/run-command.js';
import type { ProgramName } from '../support/bundled-programs.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { jobHome } from '../agent/cli/job-home.js';
import { LLM, daemonStage } from '../agent/cli/daemon-stage.js';
import { sharingHome } from '../agent/cli/sharing-home.js';
import { dataFolder } from '../coordinator/cli/data-folder.js';
import { prepareStopped } from '../coordinator/cli/jobs-in-store.js';
import { runCoordinator } from '../coordinator/cli/run-coordinator.js';
import { onlineView, serveAdminOn } from '../coordinator/cli/running-admin.js';
import { fillWithEverything } from './full-folder.js';
import type { Full } from './full-folder.js';
import { Sighting, readShapes } from './json-shapes.js';
import type { Shapes } from './json-shapes.js';

/** A shape of the document, and a command line that prints it. */
type Line = readonly [shape: string, line: string];

/** Which see the same wherever they are carried out. */
function lines({ jobs, batch, fileBatch, provider }: Full): readonly Line[] {
  const groups = ['day', 'member', 'key', 'provider', 'model', 'endpoint', 'source'];
  return [
    ...['user list', 'user invites', 'user sessions', 'key list', 'token list', 'device list'].map(
      itself,
    ),
    ...[
      'network list',
      'provider list',
      'model list',
      'alias list',
      'node list',
      'limit show',
      'job list',
    ].map(itself),
    ...['batch list', 'queue summary', 'asset list', 'asset verify', 'version', 'doctor'].map(
      itself,
    ),
    ...['laptop', 'off', 'gone'].map((key): Line => ['key show', `key show anna/${key}`]),
    ['user show', 'user show anna'],
    ['user show', 'user show eve'],
    ['network show', 'network show friends'],
    ['provider show', `provider show ${provider}`],
    ['provider show', 'provider show ben/den-pc'],
    ['model list', 'model list --user ben'],
    ...jobs.map((id): Line => ['job show', `job show ${id}`]),
    ['batch show', `batch show ${batch}`],
    ['batch show', `batch show ${fileBatch}`],
    ['audit list', 'audit list --limit 500'],
    ...groups.map((by): Line => ['stats', `stats --by ${by}`]),
    ['stats --step', 'stats --step month'],
    ['stats --step', 'stats --step day --by model'],
    ['prune', 'prune --dry-run'],
    ['prune', 'prune --yes'],
  ];
}

function itself(name: string): Line {
  return [name, name];
}

test('gateway-coordinator prints what docs/cli says, and all of it', async () => {
  const seen = new Seen('gateway-coordinator');
  await seeRunning(seen);
  await seeStopped(seen);
  await seeShort(seen);
  await seeCoordinatorService(seen);
  expect(seen.report()).toEqual([]);
}, 120_000);

/** Beside a coordinator, to which one of the machines is connected. */
async function seeRunning(seen: Seen): Promise<void> {
  const folder = await dataFolder();
  const { store, links, jobActions } = await serveAdminOn(folder.path);
  const full = await fillWithEverything(store);
  const provider = (await store.listProviders()).find(({ id }) => id === full.provider);
  if (provider === undefined) throw new Error('the provider is not there');
  const { services } = provider;
  links.online.set(provider.id, withCards({ ...onlineView(provider), services }));
  jobActions.lastTickAt = Date.now();
  const created = ['user create', 'user create --email frida@example.org'] as const;
  for (const [shape, line] of [created, ...lines(full)]) {
    const { stdout, stderr } = await runCommand('gateway-coordinator', wordsOf(line, folder.path));
    seen.add(shape, stdout, stderr);
    if (shape === 'user create') continue;
    const words = wordsOf(line, folder.path).filter(isNoFlag);
    expectReadable(line, await runCommand('gateway-coordinator', words));
  }
}

function isNoFlag(word: string): boolean {
  return word !== '--json';
}

/** Without --json nothing is written as programs write it. */
function expectReadable(
  line: string,
  { stdout, stderr }: { stdout: string; stderr: string },
): void {
  const text = stdout + stderr;
  expect(text, line).not.toMatch(/[[{]["{]|"[}\]]|\[object /);
  expect(text, line).not.toMatch(/\b1[5-9]\d{11}\b/);
  expect(text, line).not.toMatch(/(^|[\t ])(null|undefined|NaN|true|false)($|[\t ,;])/m);
}

/** One of the two cards reports everything, the other nothing. */
function withCards(view: ProviderView): ProviderView {
  const { link } = view;
  if (link === null) return view;
  const known = { name: 'RTX 4090', vendor: 'NVIDIA', vram_mib: 24_564, driver: '570' };
  const unknown = { name: null, vendor: null, vram_mib: null, driver: null };
  const host = { ...link.host, gpus: [known, unknown] };
  const cards = [
    { use_percent: 97, memory_used_mib: 9_000, temperature_c: 71, power_watts: 313.5 },
  ];
  return { ...view, link: { ...link, host, cards } };
}

/** Where none runs, with files that are really missing, and each command in its own process. */
async function seeStopped(seen: Seen): Promise<void> {
  const folder = await dataFolder();
  const full = await prepareStopped(folder, fillWithEverything);
  const [file, other] = [`${folder.path}.tar`, `${folder.path}.restored`];
  const run = async (shape: string, line: string, path = folder.path): Promise<void> => {
    const { stdout, stderr } = await runCoordinator(wordsOf(line, path));
    seen.add(shape, stdout, stderr);
    // Each runs in its own process, and others are examined next to a coordinator.
    if (shape !== 'backup' && shape !== 'migrate --status') return;
    expectReadable(line, await runCoordinator(wordsOf(line, path).filter(isNoFlag)));
  };
  await run('provider show', `provider show ${full.provider}`);
  await run('asset verify', 'asset verify');
  await run('migrate --status', 'migrate --status');
  await run('migrate', 'migrate');
  await run('backup', `backup -o ${file}`);
  await run('backup --folder', `backup --folder ${await temporaryFolder()}`);
  await run('restore --verify', `restore ${file} --verify`);
  await run('restore', `restore ${file} --partial`, other);
  await run('restore', `restore ${file} --partial --yes`, other);
  await run('migrate --files', `migrate --files file://${await temporaryFolder()}`);
}

function wordsOf(line: string, dataDir: string): string[] {
  const data = line === 'version' ? [] : ['--data', dataDir];
  return [...line.split(' '), '--json', ...data];
}

test('gateway-agent prints what docs/cli says, and all of it', async () => {
  const seen = new Seen('gateway-agent');
  const { folder } = await fakeNvidiaSmi();
  const home = await jobHome({ PATH: `${folder}:${process.env['PATH']}` });
  const see = async (shape: string, ...words: string[]): Promise<void> => {
    const { stdout, stderr } = await home.run(...words, '--json');
    seen.add(shape, stdout, stderr);
    if (shape !== 'test') expectReadable(words.join(' '), await home.run(...words));
  };
  await see('status, where no agent runs', 'status');
  const { link } = await home.startAgent();
  await until(async () => (await home.run('status')).stdout.includes('25.5'));
  link.open(1, { caller: { name: 'Ben', own: false } });
  await until(() => home.server.requests.length === 1);
  home.server.behave(answer());
  link.open(2);
  await link.lastWord(2);
  await home.run('pause', '--for', '2h');
  await see('status', 'status');
  await see('jobs', 'jobs');
  await see('jobs --today', 'jobs', '--today');
  home.server.once(reply(500, { error: { message: 'out of memory' } }));
  await see('test', 'test', 'tiny');
  await see('test', 'test', 'tiny');
  await see('doctor', 'doctor');
  await seeShortOfAgent(seen);
  await home.run('services', 'remove', 'llm-1', '--yes');
  const add = '--type llm --backend openai --slots 2 --slot-group gpu0 --model tiny --base-url';
  await home.run('services', 'add', ...add.split(' '), home.server.baseUrl);
  await see('services list', 'services', 'list');
  const kobold = await startKoboldCpp();
  onTestFinished(() => kobold.close());
  const ports = [new URL(home.server.baseUrl).port, String(kobold.port)];
  await see('services scan', 'services', 'scan', '--port', ...ports);
  const { stdout } = await runCommand('gateway-agent', ['version', '--json']);
  seen.add('version', stdout, '');
  await seeShared(seen);
  await seeService(seen);
  expect(seen.report()).toEqual([]);
}, 60_000);

/** Doctors on a disk without space, of which a part can be freed. */
async function seeShort(seen: Seen): Promise<void> {
  const dataDir = await temporaryFolder();
  await (await openStore(dataDir)).close();
  await writeFile(join(dataDir, 'gateway.db.schema-1.backup'), Buffer.alloc(100_000));
  const patient = { dataDir, isRunning: false, retention: null };
  seen.add('doctor', JSON.stringify([await checkFreeSpace(patient, 0)]), '');
}

async function seeShortOfAgent(seen: Seen): Promise<void> {
  const location = configLocation(join(await temporaryFolder(), 'agent.json'), true);
  await mkdir(location.stateDir);
  await writeFile(join(location.stateDir, 'agent.log'), Buffer.alloc(100_000));
  seen.add('doctor', JSON.stringify([await checkSpool(location, null, 0)]), '');
}

/** What a coordinator knows of the agent. */
async function seeShared(seen: Seen): Promise<void> {
  const { agent, gateway } = await sharingHome();
  await agent('services share chat --network friends');
  const day = { requests: 5 };
  const subject = { provider: 'den-pc', service: null, model: 'tiny', network: null, user: 'Ben' };
  const hours = { hours: '22:00-07:00', time_zone: 'UTC' };
  const limits = { slots: 1, ...hours, max_tokens: 500, day, month: day };
  await gateway.admin('provider.share', { ...subject, ...limits });
  await agent('services limit chat --hours 22:00-07:00');
  const upgrade: Line = ['upgrade', 'upgrade --check'];
  for (const [shape, line] of [itself('services list'), itself('version --check'), upgrade]) {
    const { stdout, stderr } = await agent(`${line} --json`);
    seen.add(shape, stdout, stderr);
    expectReadable(line, await agent(line));
  }
}

/** Facts of the operating system, which a stand-in provides here. */
async function seeCoordinatorService(seen: Seen): Promise<void> {
  const folder = await temporaryFolder();
  const state = 'printf "ActiveState=active\\nSubState=running\\n"';
  const tools = await fakeTools({ systemctl: state, loginctl: 'exit 0' });
  const env = { PATH: tools.path, XDG_CONFIG_HOME: folder };
  const run = (line: string) =>
    runCoordinator([...line.split(' '), '--data', join(folder, 'data')], { env });
  await run(`service install --user --backup-folder ${join(folder, 'copies')}`);
  const { stdout, stderr } = await run('service status --json');
  seen.add('service status', stdout, stderr);
}

/** The same. */
async function seeService(seen: Seen): Promise<void> {
  const { home, run } = await daemonStage();
  await home.enrolAt('http://127.0.0.1:9', [LLM]);
  await run('service', 'install', '--user');
  const { stdout, stderr } = await run('service', 'status', '--json');
  seen.add('service status', stdout, stderr);
}

/**
 * Fields that are printed only for a fault, an end, a measurement, a change by a member in the
 * console, or with a key.
 */
const SELDOM: Readonly<Record<ProgramName, readonly string[]>> = {
  'gateway-coordinator': [
    // What is shared with a network is shared with no member.
    'network show: shares[].member',
    'restore: moved_to',
    'model list: tokens_per_second',
    'audit list: actor_name',
  ],
  'gateway-agent': [
    'status: reason',
    'status: services[].reason',
    'status: owner_reason.program',
    'status: owner_reason.hours',
    'services list: api_key_file',
    'services list: workflows',
    'test: seconds',
    'test: cut',
    'services scan: note',
  ],
};

/** Reading is for programs, too. */
const READS =
  /(^| )(list|show|summary|invites|sessions|verify|status|jobs|doctor|test|version|stats|scan)$/;

test.each(['gateway-coordinator', 'gateway-agent'] as const)(
  'every command of %s that reads has --json, and each that has it is documented',
  (program) => {
    const withJson = leafCommands(program).filter(({ command }) =>
      command.options.some(({ long }) => long === '--json'),
    );
    const names = withJson.map(({ name }) => name);
    const readers = leafCommands(program).filter(({ name }) => READS.test(name));
    expect(names).toEqual(expect.arrayContaining(readers.map(({ name }) => name)));
    const documented = [...readShapes(program).keys()].map((name) => name.split(/ --|, /)[0] ?? '');
    const commands = documented.filter((name) => !/^an? /.test(name));
    expect([...new Set(commands)].toSorted()).toEqual(names.toSorted());
  },
);

test('a list is an array of objects with an id, and with the name where there is one', () => {
  const shapes = [...readShapes('gateway-coordinator')];
  const lists = shapes.filter(([name]) => name.endsWith(' list'));
  expect(lists.length).toBeGreaterThan(9);
  for (const [name, { rows, fields }] of lists) {
    expect({ name, rows, id: fields.get('id') }).toEqual({ name, rows: true, id: 'string' });
  }
  const named = ['user', 'key', 'token', 'network', 'provider', 'alias', 'node'];
  for (const noun of named) {
    const list = shapes.find(([name]) => name === `${noun} list`);
    expect([noun, list?.[1].fields.has('name')]).toEqual([noun, true]);
  }
});

/** All that was printed, held to the document. */
class Seen {
  readonly #program: ProgramName;
  readonly #shapes: Shapes;
  readonly #sightings = new Map<string, Sighting>();

  constructor(program: ProgramName) {
    this.#program = program;
    this.#shapes = readShapes(program);
  }

  add(name: string, stdout: string, stderr: string): void {
    const shape = this.#shapes.get(name);
    if (shape === undefined) throw new Error(`docs/cli has no table of "${name}"`);
    if (stdout === '') throw new Error(`"${name}" prints nothing: ${stderr}`);
    const sighting = this.#sightings.get(name) ?? new Sighting(shape);
    sighting.add(JSON.parse(stdout));
    this.#sightings.set(name, sighting);
  }

  /** One line per fault; empty if the document and the programs agree. */
  report(): string[] {
    const tables = [...this.#shapes.keys()].filter((name) => !/^an? /.test(name));
    return tables.flatMap((name) => {
      const sighting = this.#sightings.get(name);
      if (sighting === undefined) return [`${name} was never printed`];
      const unseen = sighting.unseen().map((path) => `${name}: ${path}`);
      const missing = unseen.filter((line) => !SELDOM[this.#program].includes(line));
      return [
        ...[...sighting.faults].map((fault) => `${name}: ${fault}`),
        ...missing.map((line) => `${line} never comes`),
      ];
    });
  }
}
