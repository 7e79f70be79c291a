/** `start --demo`: a gateway with members, machines and history, and commands to try it. */
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { newSecret, randomCharacters } from '@inference-gateway/shared/ids';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { inShell } from '@inference-gateway/shared/program/disk';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { say } from '@inference-gateway/shared/program/print';
import { emailOf } from '../demo/cast.js';
import { foundDemo } from '../demo/demo.js';
import type { Scene } from '../demo/scene.js';
import { openStore } from '../store/open.js';

/** The name of the files, and of the machine that joins with the token. */
const NAME = 'demo';
/** Without characters that look alike. */
const PASSWORD_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const PASSWORD_CHARACTERS = 16;
/** Long enough to read the output first. */
const TOKEN_MS = 24 * 3_600_000;
/** An agent may still be writing its state there. */
const REMOVAL_TRIES = 5;
/** For files with secrets: no other user of the machine may read them. */
const PRIVATE = { mode: 0o600 } as const;

/** A folder that is deleted when this process exits. */
export async function temporaryData(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-demo-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: REMOVAL_TRIES });
  });
  return folder;
}

export interface PreparedDemo {
  readonly scene: Scene;
  /** The password of every member. */
  readonly password: string;
}

interface DemoFolder {
  readonly dataDir: string;
  readonly retentionMs: number;
}

/** Throws a `conflict` if the folder has members, or is in use. */
export async function prepareDemo({ dataDir, retentionMs }: DemoFolder): Promise<PreparedDemo> {
  const opened = await openStore(dataDir);
  try {
    if ((await opened.listMembers()).length > 0) throw hasMembers(dataDir);
    const store = opened.by('cli:demo');
    const now = SYSTEM_CLOCK.now();
    const password = randomCharacters(PASSWORD_ALPHABET, PASSWORD_CHARACTERS);
    const scene = await foundDemo(store, { dataDir, retentionMs, password, now });
    const { id: ownerId, secret: key } = scene.members.Anna;
    const token = newSecret('gwj');
    const [hash, expiresAt] = [hashSecret(token), now + TOKEN_MS];
    await store.createJoinToken({ ownerId, name: NAME, hash, expiresAt, replaces: null }, now);
    await writeFile(fileOf(dataDir, 'key'), `${key}\n`, PRIVATE);
    await writeFile(fileOf(dataDir, 'token'), `${token}\n`, PRIVATE);
    return { scene, password };
  } finally {
    await opened.close();
  }
}

interface Announced {
  readonly dataDir: string;
  readonly url: string;
  readonly isTemporary: boolean;
  readonly password: string;
}

/** Writes to stderr where to log in, and commands for another terminal. */
export function announceDemo({ dataDir, url, isTemporary, password }: Announced): void {
  const [key, token] = [fileOf(dataDir, 'key'), fileOf(dataDir, 'token')].map(inShell);
  const config = inShell(join(resolve(dataDir), 'demo-agent.json'));
  const body = { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] };
  const lines = [
    'A demo with five members, their machines and a month of history. Log in as its admin:',
    `  dashboard  ${url}/login`,
    `  e-mail     ${emailOf('Anna')}`,
    `  password   ${password}`,
    `${emailOf('Ben')} is a member without rights, with the same password.`,
    'In a second terminal, start an agent of your own with built-in models:',
    `  gateway-agent enroll --url ${url} --token-file ${token} --config ${config} && ` +
      `gateway-agent start --demo --config ${config}`,
    'In a third one, ask it:',
    `  curl -s ${url}/v1/chat/completions -H "Authorization: Bearer $(cat ${key})" ` +
      `-H 'content-type: application/json' -d '${JSON.stringify(body)}'`,
    isTemporary
      ? 'All of this is removed when the coordinator ends; --data DIR keeps it.'
      : `To go on with it later: gateway-coordinator start --data ${inShell(dataDir)}`,
  ];
  say(lines.join('\n'));
}

function hasMembers(dataDir: string): CommandError {
  const message =
    `${dataDir} has members already, and a demo begins with none. ` +
    'Leave --demo out, or name a new folder with --data.';
  return new CommandError(EXIT.conflict, message);
}

/** An absolute path: the commands are pasted into other terminals. */
function fileOf(dataDir: string, secret: 'key' | 'token'): string {
  return join(resolve(dataDir), `${NAME}.${secret}`);
}
