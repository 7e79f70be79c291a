/** `start --demo`: prepares the demo's data folder and prints how to use it. */
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { newSecret, randomCharacters } from '@inference-gateway/shared/ids';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { inShell } from '@inference-gateway/shared/program/disk';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import { say } from '@inference-gateway/shared/program/print';
import { emailOf } from '../demo/cast.js';
import { foundDemo } from '../demo/demo.js';
import type { Scene } from '../demo/scene.js';
import { openStore } from '../store/open.js';

/** Base name of the secrets' files, and name of the machine that joins with the token. */
const NAME = 'demo';
/** Without characters that look alike: no l, o, 0 or 1. */
const PASSWORD_ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const PASSWORD_CHARACTERS = 16;
/** How long the join token is valid: a user may read the text for a while first. */
const TOKEN_MS = 24 * 3_600_000;
/** Retried because an agent may still write its state into the folder. */
const REMOVAL_TRIES = 5;
/** Secrets are readable by their owner alone. */
const PRIVATE = { mode: 0o600 } as const;

/** A temporary folder that is deleted when this process exits. */
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

/** Throws a `conflict` if the folder already has members or is in use. */
export async function prepareDemo({ dataDir, retentionMs }: DemoFolder): Promise<PreparedDemo> {
  const opened = await openStore(dataDir);
  try {
    if ((await opened.listMembers()).length > 0) throw hasMembers(dataDir);
    const store = opened.by('cli:demo');
    const now = Date.now();
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

/** Prints to stderr where to log in and the commands to paste into another terminal. */
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
      ? 'All of this is deleted when the coordinator stops; --data DIR keeps it.'
      : `To continue with it later: gateway-coordinator start --data ${inShell(dataDir)}`,
  ];
  say(lines.join('\n'));
}

function hasMembers(dataDir: string): CommandError {
  const message =
    `${dataDir} already has members; a demo needs a folder without members. ` +
    'Omit --demo, or name a new folder with --data.';
  return new CommandError(EXIT.conflict, message);
}

/** Absolute, because the commands are pasted into another terminal. */
function fileOf(dataDir: string, secret: 'key' | 'token'): string {
  return join(resolve(dataDir), `${NAME}.${secret}`);
}
