/** Builds requests with a body. */
import type { Sent } from './account-calls.js';

export function json(path: string, body: unknown): Sent {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { path, method: 'POST', headers: { 'content-type': 'application/json' }, body: text };
}

export function form(path: string, fields: Readonly<Record<string, string | Buffer>>): Sent {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, new Blob([new Uint8Array(value)]), 'file');
  }
  return { path, method: 'POST', body };
}
