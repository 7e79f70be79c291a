/** Less what the owner, or a kind of server, never lets through; the model is no such field. */
export function withoutFields(
  fields: Readonly<Record<string, unknown>>,
  dropped: Iterable<string>,
): Record<string, unknown> {
  const names = new Set(dropped);
  const kept = Object.entries(fields).filter(([name]) => name === 'model' || !names.has(name));
  return Object.fromEntries(kept);
}
