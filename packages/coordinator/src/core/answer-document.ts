/** What a JSON answer must be, whoever takes it. */

export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

export function isJsonObject(bytes: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
