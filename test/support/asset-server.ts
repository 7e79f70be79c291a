/** A coordinator whose members already have assets. */
import { openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import type { FolderStore } from '@inference-gateway/coordinator/assets/folder-store';
import type { AssetFacts } from '@inference-gateway/coordinator/assets/answer-files';
import { loadConfig } from '@inference-gateway/coordinator/config/config';
import type { Config } from '@inference-gateway/coordinator/config/config';
import { startCoordinator } from '@inference-gateway/coordinator/coordinator';
import type { Asset, Store } from '@inference-gateway/coordinator/store/port';
import { newSecret } from '@inference-gateway/shared/ids';
import { onTestFinished } from 'vitest';
import { createKey, sha256 } from '../store/store-rows.js';
import { DAY_MS, factsOf, keepBytes, openLibrary } from './open-library.js';

export const PUBLIC_URL = 'https://gateway.example.org';
export const PICTURE = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251));

interface Options {
  /** Stored in this order for Anna, or for Ben if set. Default: one picture. */
  readonly files?: readonly (Partial<AssetFacts> & {
    readonly bytes: Buffer;
    readonly owner?: 'ben';
  })[];
  readonly retentionMs?: number;
  readonly settings?: Partial<Config>;
}

export interface AssetServer {
  readonly address: string;
  readonly assets: readonly Asset[];
  /** The path of the first asset's URL. */
  readonly path: string;
  readonly files: FolderStore;
  readonly annaKey: string;
  readonly benKey: string;
  /** Sends Anna's key by default; `key` replaces it, null sends none. */
  fetch(path: string, init?: RequestInit & { key?: string | null }): Promise<Response>;
  /** Stops it and starts another on the same data. */
  restart(): Promise<AssetServer>;
}

export async function startAssetServer(options: Options = {}): Promise<AssetServer> {
  const { files = [{ bytes: PICTURE }], retentionMs = DAY_MS, settings = {} } = options;
  const open = await openLibrary({ retentionMs });
  const assets: Asset[] = [];
  for (const { bytes, owner, ...facts } of files) {
    const memberId = owner === 'ben' ? open.ben : open.anna;
    assets.push(await keepBytes(open, factsOf(memberId, facts), bytes));
  }
  const annaKey = await keyOf(open.store, open.anna);
  const benKey = await keyOf(open.store, open.ben);
  await open.close();
  return serve({ dataDir: open.dataDir, settings, assets, annaKey, benKey });
}

interface Kept {
  readonly dataDir: string;
  readonly settings: Partial<Config>;
  readonly assets: readonly Asset[];
  readonly annaKey: string;
  readonly benKey: string;
}

async function serve(kept: Kept): Promise<AssetServer> {
  const { dataDir, settings, assets, annaKey, benKey } = kept;
  const fixed = { dataDir, port: 0, logLevel: 'silent', publicUrl: PUBLIC_URL } as const;
  const config = { ...loadConfig({}, {}), ...fixed, ...settings };
  const coordinator = await startCoordinator(config, { storeInThread: false });
  onTestFinished(() => coordinator.drain());
  const { address } = coordinator;
  return {
    address,
    assets,
    path: `/api/inference/assets/${assets[0]?.id}/`,
    files: openByteStore(dataDir),
    annaKey,
    benKey,
    fetch: (path, { key = annaKey, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (key !== null) headers.set('authorization', `Bearer ${key}`);
      return fetch(address + path, { ...init, headers });
    },
    async restart() {
      await coordinator.drain();
      return serve(kept);
    },
  };
}

async function keyOf(store: Store, memberId: string): Promise<string> {
  const key = newSecret('gwk');
  await createKey(store, memberId, { hash: sha256(key) });
  return key;
}
