/** How a local server is shown its own key. */

/** Almost all take a token; Stable Diffusion's web UI takes `user:password`. */
export type KeyScheme = 'bearer' | 'basic';

/** The header, where there is a key. */
export function authorization(
  apiKey: string | null,
  scheme: KeyScheme = 'bearer',
): { readonly authorization?: string } {
  if (apiKey === null) return {};
  if (scheme === 'bearer') return { authorization: `Bearer ${apiKey}` };
  return { authorization: `Basic ${Buffer.from(apiKey).toString('base64')}` };
}
