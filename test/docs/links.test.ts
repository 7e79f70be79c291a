/** Every link of a document leads to an existing file, and to one of its headings. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const documents = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.md'],
  { cwd: ROOT },
)
  .toString()
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));

test('there are documents with links', () => {
  expect(documents).toContain('README.md');
  expect(documents.flatMap(linksOf).length).toBeGreaterThan(100);
});

test.each(documents)('%s has no dead link', (path) => {
  const dead = linksOf(path).filter((link) => !leads(path, link));
  expect(dead).toEqual([]);
});

test('headings are found as a page of Markdown names them', () => {
  const text = '# `a` b: (c)\n\n```\n# no heading\n```\n\n## A_b-c, d\n\n## A_b-c, d\n';
  expect(anchorsOf(text)).toEqual(['a-b-c', 'a_b-c-d', 'a_b-c-d-1']);
});

function linksOf(path: string): string[] {
  const text = withoutCode(readFileSync(join(ROOT, path), 'utf8'));
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));
}

function leads(from: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? from : relative(ROOT, join(ROOT, dirname(from), file));
  if (!existsSync(join(ROOT, path))) return false;
  if (anchor === undefined || !path.endsWith('.md')) return true;
  return anchorsOf(readFileSync(join(ROOT, path), 'utf8')).includes(anchor);
}

/** As GitHub makes them of headings; a second one of the same name gets a number. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replaceAll(FENCED, '').matchAll(/^#{1,6} (.+)$/gm)];
  const plain = headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return plain.map((anchor, index) => {
    const earlier = plain.slice(0, index).filter((one) => one === anchor).length;
    return earlier === 0 ? anchor : `${anchor}-${earlier}`;
  });
}

const FENCED = /^```[\s\S]*?^```/gm;

function withoutCode(text: string): string {
  return text.replaceAll(FENCED, '').replaceAll(/`[^`\n]*`/g, '``');
}
