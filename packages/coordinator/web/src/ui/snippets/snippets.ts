/**
 * A call of the API as code that runs as pasted: in a shell, as a Python file, as a Node module.
 * OpenAI's own clients are used if they know the call.
 */
import { curlSnippet } from './curl.js';
import { nodeSnippet } from './node.js';
import { pythonSnippet } from './python.js';
import type { SnippetCall } from './call.js';

export { KEY_VARIABLE } from './call.js';
export type { SnippetCall } from './call.js';

export const LANGUAGES = [
  { value: 'curl', label: 'curl' },
  { value: 'python', label: 'Python' },
  { value: 'node', label: 'Node' },
] as const;

export type Language = (typeof LANGUAGES)[number]['value'];

const WRITERS: Readonly<Record<Language, (call: SnippetCall) => string>> = {
  curl: curlSnippet,
  python: pythonSnippet,
  node: nodeSnippet,
};

export function snippetOf(language: Language, call: SnippetCall): string {
  return WRITERS[language](call);
}
