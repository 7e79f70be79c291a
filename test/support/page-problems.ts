/** Errors of a page that are not visible in its content. */
import type { ConsoleMessage, Page, Request, Response } from 'playwright-core';

interface Problems {
  /** Throws if there was a problem that no test expected. */
  judge(): void;
}

const expected = new WeakMap<Page, RegExp[]>();

/** Allows the page problems that match, for instance those of a refused log-in. */
export function expectProblem(page: Page, pattern: RegExp): void {
  expected.get(page)?.push(pattern);
}

/** Call it before the page loads. */
export async function watchPage(page: Page): Promise<Problems> {
  const found: string[] = [];
  const patterns = expected.get(page) ?? [];
  expected.set(page, patterns);
  page.on('console', (message) => {
    if (message.type() === 'error') found.push(describeMessage(message));
  });
  page.on('pageerror', (error) => {
    if (!LEAVING.test(error.message)) found.push(`uncaught ${error.stack ?? error.message}`);
  });
  page.on('requestfailed', (request) => found.push(...describeFailure(request)));
  if (page.context().browser()?.browserType().name() === 'firefox') {
    page.on('response', (response) => found.push(...describeRefusal(response)));
  }
  await page.addInitScript(REPORT_VIOLATIONS);
  await page.addInitScript(COUNT_SHIFTS);
  return {
    judge() {
      const surprises = found.filter((one) => !patterns.some((pattern) => pattern.test(one)));
      if (surprises.length === 0) return;
      throw new Error(`The page reported:\n${surprises.join('\n')}`);
    },
  };
}

/**
 * A page of Firefox that is being left is told so of the parts that it loads. Where they are
 * missing, their request has failed, too.
 */
const LEAVING = /^(Unable to preload CSS|error loading dynamically imported module)/;

/** Chromium does not log every violation itself. */
const REPORT_VIOLATIONS =
  `addEventListener('securitypolicyviolation', (event) => ` +
  `console.error('CSP violation', event.violatedDirective, event.blockedURI));`;

/** Runs in the page: what has moved in a layout shift, and from where to where. */
export const NAME_MOVE = `({ node, previousRect, currentRect }) =>
  (node?.outerHTML ?? node?.data ?? 'nothing').slice(0, 60) +
  ' from ' + previousRect.y + ' to ' + currentRect.y`;

/**
 * Layout shifts since the page was opened, as the browser scores them. It stops at the first key,
 * click, input or resize, because changes after these are intended.
 */
const COUNT_SHIFTS = `
  window.shifted = 0;
  window.movedFrom = [];
  const observer = new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      window.shifted += value;
      window.movedFrom.push(...sources.map(${NAME_MOVE}));
    }
  });
  observer.observe({ type: 'layout-shift', buffered: true });
  for (const type of ['keydown', 'pointerdown', 'input', 'resize']) {
    addEventListener(type, () => observer.disconnect(), { capture: true, once: true });
  }`;

function describeMessage(message: ConsoleMessage): string {
  const { url } = message.location();
  return `console: ${message.text()}${url === '' ? '' : ` (${url})`}`;
}

/** Chromium logs them. */
function describeRefusal(response: Response): string[] {
  return response.status() < 400 ? [] : [`${response.status()} for ${response.url()}`];
}

/** Requests that the page itself aborted are not failures. */
function describeFailure(request: Request): string[] {
  const reason = request.failure()?.errorText ?? 'failed';
  if (reason === 'net::ERR_ABORTED' || reason === 'NS_BINDING_ABORTED') return [];
  return [`${request.method()} ${request.url()}: ${reason}`];
}
