/** `start --demo`: a member, a key and a join token, and the two commands that use them. */
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { newSecret } from '@inference-gateway/shared/ids';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { hashSecret } from '@inference-gateway/shared/program/hash-secret';
import { say } from '@inference-gateway/shared/program/print';
import { newKeySecret } from '../accounts/key-secret.js';
import type { Created, Store } from '../store/port.js';
import { openStore } from '../store/open.js';

const NAME = 'demo';
/** Long enough to read first. */
const TOKEN_MS = 24 * 3_600_000;
/** An agent may still be writing its state there. */
const REMOVAL_TRIES = 5;
/** For the secrets: nobody else on the machine reads them. */
const PRIVATE = { mode: 0o600 } as const;

/** A folder that goes with this process. */
export async function temporaryData(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-demo-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: REMOVAL_TRIES });
  });
  return folder;
}

/** Throws a `conflict` where the folder has members, or is in use. */
export async function prepareDemo(dataDir: string): Promise<void> {
  const store = await openStore(dataDir);
  try {
    if ((await store.listMembers()).length > 0) throw hasMembers(dataDir);
    const { key, token } = await createMember(store.by('cli:demo'));
    await writeFile(fileOf(dataDir, 'key'), `${key}\n`, PRIVATE);
    await writeFile(fileOf(dataDir, 'token'), `${token}\n`, PRIVATE);
  } finally {
    await store.close();
  }
}

/** Tells, on stderr, what to paste into another terminal. */
export function announceDemo(dataDir: string, url: string, isTemporary: boolean): void {
  const [key, token] = [fileOf(dataDir, 'key'), fileOf(dataDir, 'token')].map(quoted);
  const config = quoted(join(resolve(dataDir), 'demo-agent.json'));
  const body = { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] };
  const lines = [
    'A demo, for the member "demo". In a second terminal, start an agent with built-in models:',
    `  gateway-agent enroll --url ${url} --token-file ${token} --config ${config} && ` +
      `gateway-agent start --demo --config ${config}`,
    'In a third one, ask it:',
    `  curl -s ${url}/v1/chat/completions -H "Authorization: Bearer $(cat ${key})" ` +
      `-H 'content-type: application/json' -d '${JSON.stringify(body)}'`,
    isTemporary
      ? 'All of this is removed when the coordinator ends; --data DIR keeps it.'
      : `To go on with it later: gateway-coordinator start --data ${quoted(dataDir)}`,
  ];
  say(lines.join('\n'));
}

async function createMember(store: Store): Promise<{ key: string; token: string }> {
  const now = Date.now();
  const account = { name: NAME, email: `${NAME}@localhost`, passwordHash: null } as const;
  const member = created(await store.createMember({ ...account, role: 'admin' }, now));
  const { secret: key, kept } = newKeySecret();
  const row = { memberId: member.id, name: NAME, ...kept, scope: 'any', expiresAt: null } as const;
  created(await store.createKey(row, now));
  const token = newSecret('gwj');
  const [hash, expiresAt] = [hashSecret(token), now + TOKEN_MS];
  await store.createJoinToken(
    { ownerId: member.id, name: NAME, hash, expiresAt, replaces: null },
    now,
  );
  return { key, token };
}

function created<T>(outcome: Created<T>): T {
  if (outcome.kind === 'created') return outcome.value;
  throw new Error(`the name or address ${NAME} is taken among no members`);
}

function hasMembers(dataDir: string): CommandError {
  const message =
    `${dataDir} has members already, and a demo begins with none. ` +
    'Leave --demo out, or name a new folder with --data.';
  return new CommandError(EXIT.conflict, message);
}

/** Absolute: the commands are pasted elsewhere. */
function fileOf(dataDir: string, secret: 'key' | 'token'): string {
  return join(resolve(dataDir), `${NAME}.${secret}`);
}

/** For a shell. */
function quoted(path: string): string {
  return /^[\w./:-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
