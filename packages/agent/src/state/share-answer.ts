/**
 * That the owner has been asked what to share: `share-answer.json` in the state folder. Whoever
 * keeps everything private is not asked again at every start.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurably } from './write-durably.js';

export function wasAskedToShare(stateDir: string): boolean {
  return existsSync(fileOf(stateDir));
}

export async function noteShareAnswer(stateDir: string, answeredAt: number): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await writeDurably(fileOf(stateDir), JSON.stringify({ answered_at: answeredAt }));
}

function fileOf(stateDir: string): string {
  return join(stateDir, 'share-answer.json');
}
