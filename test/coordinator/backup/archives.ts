/** Backups of a folder with assets, and functions that build or change archives for tests. */
import { openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import { createBackup } from '@inference-gateway/coordinator/backup/create-backup';
import type { BackupRequest } from '@inference-gateway/coordinator/backup/create-backup';
import type { ArchiveOutcome } from '@inference-gateway/coordinator/backup/write-archive';
import type { Asset } from '@inference-gateway/coordinator/store/port';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { factsOf, keepBytes, openLibrary } from '../../support/open-library.js';
import type { OpenLibrary } from '../../support/open-library.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const BLOCK = 512;
const TYPES = { File: '0', Link: '1', SymbolicLink: '2', Directory: '5', FIFO: '6' } as const;
/** The largest size that fits in eleven octal digits. */
const MOST_OCTAL = 0o77777777777;

export const NEVER: AbortSignal = new AbortController().signal;

export interface Entry {
  readonly path: string;
  readonly bytes?: Buffer;
  readonly type?: keyof typeof TYPES;
  readonly linkpath?: string;
  /** The size in the header, if it differs from the real one. */
  readonly size?: number;
}

export interface Sample extends OpenLibrary {
  readonly assets: readonly Asset[];
  /** A folder for archives. */
  readonly folder: string;
  /** Backs the data folder up to `<folder>/<name>`, and returns the path. */
  readonly backUp: (name?: string) => Promise<string>;
}

/** The data folder of an open library with three assets. */
export async function sample(): Promise<Sample> {
  const open = await openLibrary();
  const assets: Asset[] = [];
  for (const text of ['one', 'two', 'x'.repeat(700_000)]) {
    assets.push(await keepBytes(open, factsOf(open.anna), text));
  }
  const folder = await temporaryFolder();
  const backUp = async (name = 'gateway.tar'): Promise<string> => {
    const output = join(folder, name);
    await back({ dataDir: open.dataDir, output });
    return output;
  };
  return { ...open, assets, folder, backUp };
}

export function back(
  request: Pick<BackupRequest, 'dataDir' | 'output'> & Partial<BackupRequest>,
): Promise<ArchiveOutcome> {
  const files = openByteStore(request.dataDir);
  return createBackup({ files, version: '1.2.3', onAsset: () => {}, signal: NEVER, ...request });
}

/** The entries of an archive, in order. */
export async function entriesOf(file: string): Promise<Entry[]> {
  const raw = await readFile(file);
  const bytes = raw[0] === 0x1f ? gunzipSync(raw) : raw;
  const entries: Entry[] = [];
  for (let at = 0; bytes[at] !== 0;) {
    const path = bytes.toString('utf8', at, bytes.indexOf(0, at));
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 135), 8);
    at += BLOCK;
    entries.push({ path, bytes: bytes.subarray(at, at + size) });
    at += Math.ceil(size / BLOCK) * BLOCK;
  }
  return entries;
}

/** Writes an archive of these entries. */
export async function archiveOf(file: string, entries: readonly Entry[]): Promise<string> {
  const blocks = entries.flatMap((entry) => {
    const { bytes = Buffer.alloc(0) } = entry;
    return [headerOf(entry), bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
  });
  await writeFile(file, Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
  return file;
}

/** Writes a changed copy of the archive, and returns its path. */
export async function change(
  file: string,
  edit: (entries: Entry[]) => readonly Entry[],
): Promise<string> {
  return archiveOf(`${file}.changed.tar`, edit(await entriesOf(file)));
}

/** Replaces these fields of the manifest. */
export function withManifest(fields: object): (entries: Entry[]) => Entry[] {
  return (entries) =>
    entries.map((entry) => {
      if (entry.path !== 'manifest.json') return entry;
      const manifest = JSON.parse(String(entry.bytes)) as object;
      return { ...entry, bytes: Buffer.from(JSON.stringify({ ...manifest, ...fields })) };
    });
}

/** POSIX's header; sizes that do not fit in it are written as GNU tar writes them. */
function headerOf({ path, bytes, type = 'File', linkpath = '', size }: Entry): Buffer {
  const header = Buffer.alloc(BLOCK);
  const length = size ?? bytes?.length ?? 0;
  header.write(path, 0, 100);
  for (const at of [100, 108, 116]) header.write(octal(0o600, 7), at);
  if (length <= MOST_OCTAL) {
    header.write(octal(length, 11), 124);
  } else {
    header.writeUInt8(0x80, 124);
    header.writeBigUInt64BE(BigInt(length), 128);
  }
  header.write(octal(0, 11), 136);
  header.write('        ', 148);
  header.write(`${TYPES[type]}${linkpath}`, 156);
  header.write('ustar\u000000', 257);
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte),
      6,
    )}\0`,
    148,
  );
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
