import {
  LogInTokens,
  openLogInTokens,
} from '@inference-gateway/coordinator/accounts/log-in-tokens';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const SECRET = new Uint8Array(32);
const NOW = 1_760_000_000_000;

const tokens = (secret = SECRET, now = NOW) => new LogInTokens(secret, () => now);

function written(challenge: Uint8Array): string {
  return Buffer.from(challenge).toString('base64url');
}

test('a challenge is judged by every coordinator with the secret, for its purpose, in time', () => {
  const challenge = written(tokens().makeChallenge('log-in', 1_000));
  const judged = tokens(SECRET, NOW + 999).judgeChallenge('log-in', challenge);
  expect(judged).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{64}$/), expiresAt: NOW + 1_000 });
  expect(tokens(SECRET, NOW + 1_000).judgeChallenge('log-in', challenge)).toBeNull();
  expect(tokens().judgeChallenge('registration of anna', challenge)).toBeNull();
  expect(tokens(SECRET.slice().fill(1)).judgeChallenge('log-in', challenge)).toBeNull();
  const changed = Buffer.from(challenge, 'base64url');
  changed[17] = 255;
  expect(tokens().judgeChallenge('log-in', written(changed))).toBeNull();
  expect(tokens().judgeChallenge('log-in', '')).toBeNull();
  // Another spelling of the same bytes is no other challenge.
  expect(tokens().judgeChallenge('log-in', `${challenge}=`)?.hash).toBe(judged?.hash);
});

test('a state is opened by every coordinator with the secret, and by nobody else', () => {
  const sealed = tokens().seal({ nonce: 'a' });
  expect(tokens().unseal(sealed)).toEqual({ nonce: 'a' });
  expect(tokens(SECRET.slice().fill(1)).unseal(sealed)).toBeNull();
  expect(tokens().unseal(`${sealed.slice(0, -2)}AA`)).toBeNull();
  expect(tokens().unseal('')).toBeNull();
  expect(sealed).not.toContain('nonce');
});

test('a challenge and a state are good after a restart, and in no other data folder', async () => {
  const store = { sharedSecret: () => Promise.reject(new Error('it is alone')) };
  const open = (dataDir: string) =>
    openLogInTokens({ store, dataDir, databaseUrl: null, now: () => NOW });
  const [folder, other] = [await temporaryFolder(), await temporaryFolder()];
  const before = await open(folder);
  const challenge = written(before.makeChallenge('log-in', 1_000));
  const sealed = before.seal({ nonce: 'a' });
  const after = await open(folder);
  expect(after.judgeChallenge('log-in', challenge)).not.toBeNull();
  expect(after.unseal(sealed)).toEqual({ nonce: 'a' });
  expect((await stat(join(folder, 'log-ins.key'))).mode & 0o777).toBe(0o600);
  const elsewhere = await open(other);
  expect(elsewhere.judgeChallenge('log-in', challenge)).toBeNull();
  expect(elsewhere.unseal(sealed)).toBeNull();
});
