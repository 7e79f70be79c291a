/** Checks for every screen, and its screenshot. */
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { isFirefox, onEveryLook, show } from './browser.js';
import { expectProblem } from './page-problems.js';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const ALL_RULES = { type: 'tag', values: TAGS } as const;
/** Light and dark differ only in colours; the other rules have the same result in both. */
const COLOUR_RULES = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } as const;

/** The limit for a good page (web.dev, Cumulative Layout Shift). */
const MAX_SHIFT = 0.1;

type Rules = typeof ALL_RULES | typeof COLOUR_RULES;

/** All checks, at both widths, in light and dark. */
export async function expectSound(page: Page, name: string): Promise<void> {
  await expectStill(page);
  await onEveryLook(page, async ({ width, theme }) => {
    await expectNoSideways(page);
    await expectWholeTables(page);
    await expectAccessible(page, theme === 'light' ? ALL_RULES : COLOUR_RULES);
    await shoot(page, `${name}-${width}-${theme}`);
  });
}

/** Content that loads must fit the space reserved for it, so that the layout hardly shifts. */
async function expectStill(page: Page): Promise<void> {
  const shifted = await page.evaluate<number>('window.shifted');
  if (shifted <= MAX_SHIFT) return;
  const moved = await page.evaluate<readonly string[]>('window.movedFrom');
  throw new Error(`${page.url()} moved by ${shifted} while it loaded:\n${moved.join('\n')}`);
}

/** The checks once, at the narrow width, without the one for layout shifts. */
export async function expectSoundNarrow(page: Page, name: string): Promise<void> {
  await show(page, { width: 360, theme: 'light' });
  await shoot(page, name);
  await expectNoSideways(page);
  await expectWholeTables(page);
  await expectAccessible(page);
  await show(page, { width: 1440, theme: 'light' });
}

/** Reports, for each broken rule, the elements that break it and how to fix them. */
export async function expectAccessible(page: Page, rules: Rules = ALL_RULES): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(await axeSource());
  const violations = await page.evaluate<readonly string[]>(`
    axe.run(document, {
      runOnly: ${JSON.stringify(rules)},
      resultTypes: ['violations'],
    }).then(({ violations }) => violations.flatMap(({ id, help, nodes }) => nodes.map((node) =>
      [id + ': ' + help, node.target.join(' '), node.html, node.failureSummary].join('\\n  '))))`);
  if (violations.length > 0) throw new Error(`${page.url()}\n${violations.join('\n\n')}`);
}

/**
 * Nothing overflows at the right, so readers need not scroll sideways. Dialogs are checked too,
 * because their overflow does not show in the page's width.
 */
export async function expectNoSideways(page: Page): Promise<void> {
  const wide = await page.evaluate<readonly string[]>(`(() => {
    const root = document.documentElement;
    const dialogs = [...document.querySelectorAll('dialog[open]')]
      .filter((dialog) => dialog.scrollWidth > dialog.clientWidth)
      .map((dialog) => 'a dialog: ' + dialog.scrollWidth + ' px of ' + dialog.clientWidth);
    if (root.scrollWidth <= root.clientWidth) return dialogs;
    const scrolls = (element) => element !== null && element !== document.body
      && (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
    return [root.scrollWidth + ' px of ' + root.clientWidth].concat(
      [...document.body.querySelectorAll('*')]
        .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 0.5)
        .filter((element) => !scrolls(element.parentElement))
        .map((element) => element.cloneNode(false).outerHTML));
  })()`);
  if (wide.length > 0) throw new Error(`${page.url()} is too wide\n${wide.join('\n')}`);
}

/** No table hides a column behind its edge, except tables marked `wide`. */
async function expectWholeTables(page: Page): Promise<void> {
  const cut = await page.evaluate<readonly string[]>(`
    [...document.querySelectorAll('.table-scroll:not(.wide)')]
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .map((box) => box.ariaLabel + ': ' + box.scrollWidth + ' px of ' + box.clientWidth)`);
  if (cut.length > 0) throw new Error(`${page.url()} cuts tables\n${cut.join('\n')}`);
}

/** Saves a screenshot of the whole page in the folder GATEWAY_SHOTS, if that is set. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['GATEWAY_SHOTS'] ?? '';
  if (folder === '') return;
  mkdirSync(folder, { recursive: true });
  // Playwright adds a style of its own, and Firefox says that the policy forbids it.
  if (isFirefox) expectProblem(page, /style-src-elem/);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}

const require = createRequire(import.meta.url);
let source: Promise<string> | null = null;

/** The minified build. `evaluate` runs it despite the page's content security policy. */
function axeSource(): Promise<string> {
  source ??= readFile(require.resolve('axe-core/axe.min.js'), 'utf8');
  return source;
}
