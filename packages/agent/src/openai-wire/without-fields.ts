import { foldName } from '@inference-gateway/shared/openai/fold-name';

/**
 * Less what the owner, or a kind of server, never lets through, in any spelling that a server in Go
 * would take for the same; the model is no such field.
 */
export function withoutFields(
  fields: Readonly<Record<string, unknown>>,
  dropped: Iterable<string>,
): Record<string, unknown> {
  const names = new Set(Array.from(dropped, foldName));
  const isKept = (name: string): boolean => name === 'model' || !names.has(foldName(name));
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isKept(name)));
}
