/** Where callers fetch an asset. `publicUrl` is an origin, without a trailing slash. */
export function assetUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/api/inference/assets/${id}/`;
}
