/** The paths that a Markdown page has in backticks, and those of them that are not there. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { repositoryRoot } from './source-file.js';

/** Where a path may begin, from the repository's root. */
const BASES = ['', 'packages', 'packages/coordinator/src'];

/** Paths without a file or folder; one `*` in the last part matches any name. */
export function missingPaths(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[^]*?^```$/gm, '');
  const quoted = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text);
  return [...new Set(quoted)].filter(isPath).filter((path) => !BASES.some(startsAt(path)));
}

function isPath(text: string): boolean {
  const isWhole = /^[\w.*-]+(\/[\w.*-]+)*\/?$/.test(text);
  return isWhole && (text.includes('/') || /\.(ts|tsx|js|md)$/.test(text));
}

function startsAt(path: string) {
  return (base: string) => exists(join(repositoryRoot, base, path));
}

function exists(path: string): boolean {
  if (!path.includes('*')) return existsSync(path);
  const [start = '', end = ''] = basename(path).split('*');
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)) : [];
  return names.some((name) => name.startsWith(start) && name.endsWith(end));
}
