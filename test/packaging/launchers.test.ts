import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

test('packages, images and benches start both programs with the same bounds of memory', () => {
  const debian = ['agent', 'coordinator'].map((name) => `packaging/debian/launcher-${name}`);
  const files = [...debian, 'packaging/container/Dockerfile', 'bench/subjects/gateway.ts'];
  for (const file of files) {
    const text = readFileSync(new URL(file, ROOT), 'utf8');
    expect.soft(text, file).toContain('--max-semi-space-size=4');
    expect.soft(text, file).toMatch(/MALLOC_ARENA_MAX(=|:=|: ')1/);
  }
});
