/** Fetches a release from the coordinator: its list, and one file of it. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import {
  DOWNLOAD_PATH,
  MAX_LIST_BYTES,
  RELEASE_LIST,
  RELEASE_SIGNATURE,
  isSignedBy,
  keyName,
  readRelease,
} from '@inference-gateway/shared/program/release';
import type { Artifact, Release } from '@inference-gateway/shared/program/release';
import fetch from 'node-fetch';
import type { Response } from 'node-fetch';
import { networkFault } from '../network-fault.js';
import { RELEASE_KEY } from '../own-files.js';

/** For the list. */
const LIST_TIMEOUT_MS = 20_000;
/** For a file: an hour at 100 kbit/s. */
const FILE_TIMEOUT_MS = 3_600_000;

export interface OfferedRelease {
  readonly release: Release;
  /** Whether it is signed with the key that this program was installed with. */
  readonly isSigned: boolean;
}

/**
 * The release that this coordinator hands out. Throws a `CommandError` if it cannot be reached, if
 * it hands out none, or if its release is not signed with the key of this program.
 */
export async function fetchRelease(
  url: string,
  pinnedKey: string | null = RELEASE_KEY,
): Promise<OfferedRelease> {
  const list = await fetchSmall(`${url}${DOWNLOAD_PATH}/${RELEASE_LIST}`);
  if (list === null) {
    const message = `the coordinator at ${url} hands out no agent. Ask its administrator.`;
    throw new CommandError(EXIT.notFound, message);
  }
  const release = readRelease(list.toString());
  if (release === null) {
    const message = `what the coordinator at ${url} hands out is no list of a release.`;
    throw new CommandError(EXIT.failure, message);
  }
  if (pinnedKey === null) return { release, isSigned: false };
  const signature = await fetchSmall(`${url}${DOWNLOAD_PATH}/${RELEASE_SIGNATURE}`);
  if (signature !== null && isSignedBy(list, signature.toString(), pinnedKey)) {
    return { release, isSigned: true };
  }
  const found = signature === null ? 'it has no signature' : 'its signature is of another key';
  throw new CommandError(
    EXIT.notAuthorised,
    `the release at ${url} is refused: ${found}, and this agent takes releases of the key ` +
      `${keyName(pinnedKey)} only. If its administrator has told you of a new key, uninstall the ` +
      'agent and install it again.',
  );
}

/** Writes the file, and throws a `CommandError` unless it arrived whole and unchanged. */
export async function fetchArtifact(
  url: string,
  { file, bytes, sha256 }: Artifact,
  path: string,
): Promise<void> {
  const response = await get(`${url}${DOWNLOAD_PATH}/${file}`, FILE_TIMEOUT_MS);
  if (response.status !== 200 || response.body === null) throw refusedFile(file, response);
  const hash = createHash('sha256');
  let received = 0;
  const measure = async function* (body: AsyncIterable<Buffer>) {
    for await (const piece of body) {
      received += piece.length;
      if (received > bytes) return;
      hash.update(piece);
      yield piece;
    }
  };
  try {
    await pipeline(response.body as AsyncIterable<Buffer>, measure, createWriteStream(path));
  } catch (cause) {
    const reason = networkFault(cause);
    const message = `${file} did not arrive: ${reason} Nothing has changed. Try again.`;
    throw new CommandError(EXIT.failure, message, { cause });
  }
  const digest = hash.digest('hex');
  if (received === bytes && digest === sha256) return;
  throw new CommandError(
    EXIT.checkFailed,
    `${file} has ${received} bytes and the SHA-256 ${digest}, and ${bytes} bytes with ${sha256} ` +
      'are expected: it arrived damaged or was changed on its way. Nothing has changed. Try again.',
  );
}

function refusedFile(file: string, { status }: Response): CommandError {
  const message = `the coordinator does not hand out ${file} (it answered ${status}). Try again.`;
  return new CommandError(EXIT.failure, message);
}

/** Null if there is no such file. */
async function fetchSmall(address: string): Promise<Buffer | null> {
  const response = await get(address, LIST_TIMEOUT_MS);
  if (response.status === 404) return null;
  if (response.status === 200) return Buffer.from(await response.arrayBuffer());
  const message = `${address} answered ${response.status}. Try again later.`;
  throw new CommandError(EXIT.coordinatorUnreachable, message);
}

async function get(address: string, timeoutMs: number): Promise<Response> {
  try {
    return await fetch(address, {
      // Another host must not decide what is installed here.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
      ...(timeoutMs === LIST_TIMEOUT_MS && { size: MAX_LIST_BYTES }),
    });
  } catch (cause) {
    throw new CommandError(
      EXIT.coordinatorUnreachable,
      `${address} cannot be fetched: ${networkFault(cause)}`,
      { cause },
    );
  }
}
