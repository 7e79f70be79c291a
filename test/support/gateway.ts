/** A real coordinator on port 0 with members and keys, and real agents, all in this process. */
import { Agent } from '@inference-gateway/agent/agent';
import type { AgentOptions } from '@inference-gateway/agent/agent';
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { ModelSettings } from '@inference-gateway/agent/config/model-settings';
import type { AudioConverter } from '@inference-gateway/agent/media/audio-converter';
import type {
  AdminArgs,
  AdminName,
  AdminResult,
} from '@inference-gateway/coordinator/operations/operations';
import { callRunning } from '@inference-gateway/coordinator/cli/client';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import type { Config } from '@inference-gateway/coordinator/config/config';
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import type { Coordinator } from '@inference-gateway/coordinator/coordinator';
import { openStore } from '@inference-gateway/coordinator/store/open';
import { DATABASE_FILE, openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Clock } from '@inference-gateway/shared/clock';
import { newSecret } from '@inference-gateway/shared/ids';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { createHash, scryptSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { onTestFinished } from 'vitest';

interface TestMember {
  readonly id: string;
  readonly email: string;
  readonly key: string;
  readonly keyId: string;
  /** Registers a provider and returns its agent's token. */
  enroll(name: string): Promise<string>;
}

export interface TestGateway {
  readonly dataDir: string;
  readonly address: string;
  /** The address of the separate metrics port; null if there is none. */
  readonly metricsAddress: string | null;
  /** Includes `/v1`. */
  readonly baseUrl: string;
  /** Two members with nothing shared between them. */
  readonly anna: TestMember;
  readonly ben: TestMember;
  /** A stock client with Anna's key, which does not retry. */
  readonly client: OpenAI;
  /** Sends a raw request with Anna's key. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Starts an agent of Anna's (or of `owner`) with these services, and waits until it is online.
   */
  startAgent(options: {
    services: readonly Partial<ServiceConfig>[];
    name?: string;
    owner?: TestMember;
    /** None by default. */
    ffmpeg?: AudioConverter | null;
    /** The folder of finished answers; by default they are kept in memory. */
    stateDir?: string;
    spoolMaxBytes?: number;
    /** What the coordinator may do with models; nothing by default. */
    models?: ModelSettings;
    /** By default it has no graphics card. */
    host?: AgentOptions['host'];
    modelLimits?: AgentOptions['modelLimits'] & {};
    /** Samples the graphics card; none by default. */
    gpu?: AgentOptions['gpu'] & {};
  }): Promise<TestAgent>;
  /** Carries out an administrative operation in the running coordinator. */
  admin<Name extends AdminName>(command: Name, args: AdminArgs<Name>): Promise<AdminResult<Name>>;
  stop(): Promise<void>;
}

export interface TestAgent {
  readonly agent: Agent;
  readonly token: string;
  stop(): Promise<void>;
}

const silent = createLogger('silent');

interface GatewaySettings extends Partial<Config> {
  /**
   * True in production. Without the thread a gateway starts in 25 instead of 140 ms of CPU time;
   * tests of a slow or full disk start separate processes.
   */
  readonly storeInThread?: boolean;
  readonly clock?: Clock;
}

/** Starts a gateway; `settings` replace the defaults. It stops when the current test ends. */
export async function startGateway(settings: GatewaySettings = {}): Promise<TestGateway> {
  const gateway = await openGateway(settings);
  onTestFinished(() => gateway.stop());
  return gateway;
}

/** Like `startGateway`, for a whole test file: the file stops it in `afterAll`. */
export async function openGateway(given: GatewaySettings = {}): Promise<TestGateway> {
  const { storeInThread = false, clock = SYSTEM_CLOCK, ...settings } = given;
  const dataDir = settings.dataDir ?? (await mkdtemp(join(tmpdir(), 'gateway-test-')));
  const seeded = await seed();
  const file = join(dataDir, DATABASE_FILE);
  // A second gateway on the same folder continues the first one's state.
  if (!existsSync(file)) await writeFile(file, seeded.database);
  const config: Config = {
    ...loadConfig({}, {}),
    rateLimitRequests: 1_000_000,
    drainMs: 200,
    logLevel: 'silent',
    port: 0,
    dataDir,
    ...settings,
  };
  const coordinator = await startCoordinator(config, { storeInThread, clock });
  return new RunningGateway(coordinator, { dataDir, ...seeded }, settings.dataDir === undefined);
}

interface Seed extends Members {
  readonly dataDir: string;
}

interface Members {
  readonly anna: Seeded;
  readonly ben: Seeded;
}

interface Seeded {
  readonly id: string;
  readonly email: string;
  readonly key: string;
  readonly keyId: string;
  readonly joinTokens: string[];
}

const JOIN_TOKENS = 16;
/** The dashboard password of every member here. */
export const MEMBER_PASSWORD = 'correct horse battery staple';

let template: Promise<Members & { readonly database: Buffer }> | null = null;

/** Makes the members once per process; each gateway starts from a copy of their database. */
function seed(): Promise<Members & { readonly database: Buffer }> {
  template ??= (async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gateway-test-'));
    const members = await createMembers(dataDir);
    const database = await readFile(join(dataDir, DATABASE_FILE));
    await rm(dataDir, { recursive: true });
    return { ...members, database };
  })();
  return template;
}

async function createMembers(dataDir: string): Promise<Members> {
  const store = await openStore(dataDir);
  const now = Date.now();
  const member = async (name: string): Promise<Seeded> => {
    const email = `${name.toLowerCase()}@example.org`;
    const member = { email, name, role: 'member', passwordHash: cheapHash() } as const;
    const made = await store.createMember(member, now);
    if (made.kind !== 'created') throw new Error(`${name} is there already`);
    const key = newSecret('gwk');
    const hash = sha256(key);
    const { id } = made.value;
    const created = await store.createKey(
      { memberId: id, name: 'test', prefix: key.slice(0, 8), hash, scope: 'any', expiresAt: null },
      now,
    );
    if (created.kind !== 'created') throw new Error('the key is there already');
    const joinTokens = Array.from({ length: JOIN_TOKENS }, () => newSecret('gwj'));
    for (const token of joinTokens) {
      const expiresAt = now + 3_600_000;
      const row = { ownerId: id, name: null, hash: sha256(token), expiresAt, replaces: null };
      await store.createJoinToken(row, now);
    }
    return { id, email, key, keyId: created.value.id, joinTokens };
  };
  const members = { anna: await member('Anna'), ben: await member('Ben') };
  await store.close();
  return members;
}

class RunningGateway implements TestGateway {
  readonly dataDir: string;
  readonly address: string;
  readonly metricsAddress: string | null;
  readonly baseUrl: string;
  readonly anna: TestMember;
  readonly ben: TestMember;
  readonly client: OpenAI;
  readonly #coordinator: Coordinator;
  readonly #agents: TestAgent[] = [];
  readonly #removesFolder: boolean;
  #stopped = false;

  constructor(coordinator: Coordinator, seeded: Seed, removesFolder: boolean) {
    this.#coordinator = coordinator;
    this.#removesFolder = removesFolder;
    this.dataDir = seeded.dataDir;
    this.address = coordinator.address;
    this.metricsAddress = coordinator.metricsAddress;
    this.baseUrl = `${this.address}/v1`;
    this.anna = this.#member(seeded.anna);
    this.ben = this.#member(seeded.ben);
    this.client = new OpenAI({ baseURL: this.baseUrl, apiKey: this.anna.key, maxRetries: 0 });
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${this.anna.key}`);
    return fetch(`${this.address}${path}`, { ...init, headers });
  }

  async startAgent(options: Parameters<TestGateway['startAgent']>[0]): Promise<TestAgent> {
    const { services, name = 'den-pc', owner = this.anna, ffmpeg = null, ...spool } = options;
    const token = await owner.enroll(name);
    const agent = new Agent({
      url: this.address,
      token,
      name,
      services: services.map((service, index) => toService(service, index)),
      host: () => ({ os: 'linux', arch: 'x64', gpus: [] }),
      logger: silent,
      once: false,
      ffmpeg,
      ...spool,
    });
    await agent.start();
    const running = { agent, token, stop: () => agent.drain() };
    this.#agents.push(running);
    return running;
  }

  async admin<Name extends AdminName>(
    command: Name,
    args: AdminArgs<Name>,
  ): Promise<AdminResult<Name>> {
    const reply = await callRunning(this.dataDir, command, args);
    if (reply === null) throw new Error('no coordinator runs');
    return reply.result;
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await Promise.all([this.#coordinator.drain(), ...this.#agents.map((agent) => agent.stop())]);
    if (this.#removesFolder) await rm(this.dataDir, { recursive: true, force: true });
  }

  #member({ id, email, key, keyId, joinTokens }: Seeded): TestMember {
    const unused = [...joinTokens];
    const enroll = async (name: string): Promise<string> => {
      const response = await fetch(`${this.address}/agent/v1/enroll`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${unused.pop()}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ name }),
      });
      const answer = (await response.json()) as { token: string };
      if (!response.ok) throw new Error(JSON.stringify(answer));
      return answer.token;
    };
    return { id, email, key, keyId, enroll };
  }
}

/** A service with the defaults that the configuration would fill in. */
export function toService(service: Partial<ServiceConfig>, index = 0): ServiceConfig {
  return {
    id: `llm-${index}`,
    type: 'llm',
    backend: 'openai',
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: null,
    slots: 4,
    slotGroup: null,
    models: null,
    dropFields: [],
    foreign: true,
    hours: null,
    prove: false,
    workflows: [],
    ...service,
  };
}

/**
 * Gives a member `MEMBER_PASSWORD`, without the 0.25 s of CPU time that `user.password` takes, and
 * each log-in after it.
 */
export function givePassword({ dataDir }: { readonly dataDir: string }, email: string): void {
  const database = openDatabase(join(dataDir, DATABASE_FILE));
  try {
    const update = database.prepare('update members set password_hash = ? where email = ?');
    if (update.run(cheapHash(), email).changes !== 1) throw new Error(`nobody has ${email}`);
  } finally {
    database.close();
  }
}

/** Cheap to make and to check: the password tests cover how strong hashes are kept. */
function cheapHash(): string {
  const salt = Buffer.from('a salt for all of them');
  const hash = scryptSync(MEMBER_PASSWORD, salt, 32, { cost: 2, blockSize: 1, parallelization: 1 });
  return `$scrypt$ln=1,r=1,p=1$${salt.toString('base64')}$${hash.toString('base64')}`;
}

function sha256(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
