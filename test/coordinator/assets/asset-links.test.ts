import { AssetLinks, assetLinkSecret } from '@inference-gateway/coordinator/assets/asset-links';
import { randomId } from '@inference-gateway/shared/ids';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const HOUR_MS = 3_600_000;
const ID = randomId();
const FILE = 'asset-links.key';

let now: number;

function linksOf(fill = 1, access: 'private' | 'link' = 'link') {
  const secret = Buffer.alloc(32, fill);
  return new AssetLinks({
    secret,
    access,
    lifetimeMs: HOUR_MS,
    publicUrl: () => 'https://a',
    now: () => now,
  });
}

const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

const good = () => queryOf(linksOf().urlsFor(null)(ID));

beforeEach(() => void (now = Date.UTC(2026, 0, 1, 12, 0, 30)));

describe('the address of an asset', () => {
  test.each([
    ['private', 'link', true],
    ['link', 'private', false],
    ['link', null, true],
    ['private', null, false],
  ] as const)('where the operator says %s and the key %s, is a link: %s', (set, own, isLink) => {
    const url = linksOf(1, set).urlsFor(own)(ID);
    expect(url).toMatch(isLink ? /\/\?expires=\d{10}&signature=[\w-]{43}$/ : /[\w]{22}\/$/);
    expect(url.startsWith(`https://a/api/inference/assets/${ID}/`)).toBe(true);
  });

  test('opens for its time at least, a minute longer at most, and is the same for a minute', () => {
    const links = linksOf();
    const url = links.urlsFor(null)(ID);
    const until = Number(queryOf(url)['expires']) * 1_000;
    expect(until).toBe(Date.UTC(2026, 0, 1, 13, 1));
    now = Date.UTC(2026, 0, 1, 12, 0, 59);
    expect(links.urlsFor(null)(ID)).toBe(url);
    now = until - 1;
    expect(links.judge(ID, queryOf(url))).toEqual({ kind: 'good', untilMs: until });
    now = until;
    expect(links.judge(ID, queryOf(url))).toEqual({ kind: 'expired' });
  });
});

describe('a link that was changed opens nothing', () => {
  test('in any character of its signature or expiry', () => {
    const { expires = '', signature = '' } = good();
    for (let at = 0; at < signature.length; at++) {
      const other = signature[at] === 'A' ? 'B' : 'A';
      const changed = signature.slice(0, at) + other + signature.slice(at + 1);
      expect(linksOf().judge(ID, { expires, signature: changed })).toEqual({ kind: 'wrong' });
    }
    for (let at = 0; at < expires.length; at++) {
      const changed =
        expires.slice(0, at) + ((Number(expires[at]) + 1) % 10) + expires.slice(at + 1);
      expect(linksOf().judge(ID, { expires: changed, signature })).toEqual({ kind: 'wrong' });
    }
  });

  test('nor one of another asset, or of another secret', () => {
    expect(linksOf().judge(randomId(), good())).toEqual({ kind: 'wrong' });
    expect(linksOf(2).judge(ID, good())).toEqual({ kind: 'wrong' });
  });

  test.each<[string, Record<string, unknown>]>([
    ['no signature', { signature: undefined }],
    ['an empty signature', { signature: '' }],
    ['two signatures', { signature: ['a', 'b'] }],
    ['no expiry', { expires: undefined }],
    ['a zero before its expiry', { expires: '0' }],
    ['an expiry without end', { expires: '9'.repeat(400) }],
    ['an expiry that is no number', { expires: 'Infinity' }],
  ])('nor with %s', (_, fields) => {
    expect(linksOf().judge(ID, { ...good(), ...fields })).toEqual({ kind: 'wrong' });
  });

  test('and none is no link', () => {
    expect(linksOf().judge(ID, { other: 'x' })).toEqual({ kind: 'none' });
  });
});

describe('the secret', () => {
  test('is made once, of 32 bytes, and open to its owner only', async () => {
    const folder = await temporaryFolder();
    const made = await assetLinkSecret(folder);
    expect(made).toHaveLength(32);
    expect(await assetLinkSecret(folder)).toEqual(made);
    expect((await stat(join(folder, FILE))).mode & 0o777).toBe(0o600);
    expect((await readFile(join(folder, FILE), 'utf8')).trim()).toBe(made.toString('hex'));
    expect(await assetLinkSecret(await temporaryFolder())).not.toEqual(made);
  });

  test('that is cut off is told, with what to do', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, FILE), 'abcd');
    await chmod(join(folder, FILE), 0o600);
    await expect(assetLinkSecret(folder)).rejects.toThrow(
      /asset-links\.key does not hold 32 bytes/,
    );
  });
});
