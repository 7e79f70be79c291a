/**
 * Compares field names like Go's `encoding/json`: by Unicode's simple case folding, so that
 * `Model`, `meſſages` and `to\u212aens` (the Kelvin sign) are `model`, `messages` and `tokens`.
 * Ollama, LocalAI and other servers are written in Go, where the last of two equally folded names
 * wins.
 */

/**
 * Two names of which one is ASCII fold to the same text exactly if Go treats them as equal: only
 * the long s and the Kelvin sign fold to ASCII letters, too, and `toLowerCase` handles the second.
 */
export function foldName(name: string): string {
  return name.replaceAll('\u017f', 's').toLowerCase();
}
