/**
 * A local server's words without paths of its owner's machine: what failed is for callers to know,
 * and their owner's name and folders are not (Ollama: `unable to load model: /home/…/sha256-…`).
 */

/**
 * Where an absolute path begins: on a drive, a share, in the home folder, in an address of a file,
 * or at the root, where paths of an API (`/v1/…`) and pointers into JSON (`/0/…`) are none.
 */
const START = [
  String.raw`(?<!\w)[A-Za-z]:[\\/]`,
  String.raw`(?<!\\)\\\\(?=[\w.-]+\\)`,
  String.raw`~[\\/]`,
  String.raw`\bfile:/`,
  String.raw`(?<![\w/.\-)\]}])\/(?!(?:v\d+|api|messages|\d+)\/)(?=[^\s/]+\/)`,
].join('|');
/** To the end of its line or quotation: names may hold spaces. */
const PATH = new RegExp(`(?:${START})[^'"\`\\n]*`, 'g');

export function withoutPaths(text: string): string {
  return text.replaceAll(PATH, '…').trim();
}
