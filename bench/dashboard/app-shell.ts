/** What a browser must have before the page can draw anything, as the coordinator sends it. */
import { request } from 'node:http';
import type { DashboardRound } from './dashboard-round.js';
import type { Town } from './town.js';

export const FORMS = ['identity', 'gzip', 'br'] as const;

export async function appShellPhase({ samples }: DashboardRound, { origin }: Town): Promise<void> {
  const html = (await read(origin, '/', 'identity')).toString();
  const paths = ['/', ...loadedBy(html)];
  samples.add('gateway', 'shell.files', paths.length);
  for (const form of FORMS) {
    const sizes = await Promise.all(
      paths.map(async (path) => (await read(origin, path, form)).length),
    );
    samples.add('gateway', `shell.${form}`, sum(sizes) / 1_024);
  }
}

/** Scripts, their imports, and styles; drawing does not wait for the icon. */
function loadedBy(html: string): string[] {
  const tags = [...html.matchAll(/<(?:script|link)[^>]*>/g)].map(([tag]) => tag);
  const needed = tags.filter((tag) => /<script|rel="(?:stylesheet|modulepreload)"/.test(tag));
  return needed.map((tag) => /(?:src|href)="([^"]+)"/.exec(tag)?.[1] ?? '');
}

/** As it comes over the wire. */
function read(origin: string, path: string, form: (typeof FORMS)[number]): Promise<Buffer> {
  const headers = { accept: 'text/html,*/*;q=0.8', 'accept-encoding': form };
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL(path, origin), { headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(Buffer.concat(pieces));
        else reject(new Error(`${path} was answered ${response.statusCode}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
