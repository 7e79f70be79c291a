/**
 * Names of fields as Go's `encoding/json` compares them: by Unicode's simple case folding, so that
 * `Model`, `meſſages` and `to\u212aens` (the Kelvin sign) are `model`, `messages` and `tokens`.
 * Ollama, LocalAI and other servers are written in Go, and of two names that fold to one the last
 * wins there.
 */

/**
 * Two names of which one is ASCII fold to the same exactly where Go takes them for the same: the
 * long s and the Kelvin sign are the only other characters that fold to ASCII letters, and
 * `toLowerCase` knows the second.
 */
export function foldName(name: string): string {
  return name.replaceAll('\u017f', 's').toLowerCase();
}
