import type { Database } from 'better-sqlite3';

/** `anna-pc`, or the first of `anna-pc-2`, `anna-pc-3`, … that the owner has not given yet. */
export function freeName(database: Database): (ownerId: string, ownerName: string) => string {
  const given = database
    .prepare<[string], string>('select lower(name) from providers where owner_id = ?')
    .pluck();
  return (ownerId, ownerName) => {
    const taken = given.all(ownerId);
    const stem = `${ownerName.slice(0, MAX_STEM)}-pc`;
    const names = [stem, ...taken.map((_, i) => `${stem}-${i + 2}`)];
    return names.find((name) => !taken.includes(asciiLower(name))) ?? stem;
  };
}

/** A name has at most 64 characters, of which `-pc-12345` takes nine. */
const MAX_STEM = 55;

/** As SQLite's NOCASE and lower() fold: other letters than ASCII's stay as they are. */
function asciiLower(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}
