/** What a page says went wrong on it, although it looked right. */
import type { ConsoleMessage, Page, Request } from 'playwright-core';

interface Problems {
  /** Throws where there was one that no test expected. */
  judge(): void;
}

const expected = new WeakMap<Page, RegExp[]>();

/** Tells that a page is going to report such a problem, as a refused log-in does. */
export function expectProblem(page: Page, pattern: RegExp): void {
  expected.get(page)?.push(pattern);
}

/** Before the page is loaded. */
export async function watchPage(page: Page): Promise<Problems> {
  const found: string[] = [];
  const patterns = expected.get(page) ?? [];
  expected.set(page, patterns);
  page.on('console', (message) => {
    if (message.type() === 'error') found.push(describeMessage(message));
  });
  page.on('pageerror', (error) => found.push(`uncaught ${error.stack ?? error.message}`));
  page.on('requestfailed', (request) => found.push(...describeFailure(request)));
  await page.addInitScript(REPORT_VIOLATIONS);
  return {
    judge() {
      const surprises = found.filter((one) => !patterns.some((pattern) => pattern.test(one)));
      if (surprises.length === 0) return;
      throw new Error(`The page reported:\n${surprises.join('\n')}`);
    },
  };
}

/** The browser's own message does not come in every case. */
const REPORT_VIOLATIONS =
  `addEventListener('securitypolicyviolation', (event) => ` +
  `console.error('CSP violation', event.violatedDirective, event.blockedURI));`;

function describeMessage(message: ConsoleMessage): string {
  const { url } = message.location();
  return `console: ${message.text()}${url === '' ? '' : ` (${url})`}`;
}

/** What a page no longer wants, because it was left or asked for something else, is no failure. */
function describeFailure(request: Request): string[] {
  const reason = request.failure()?.errorText ?? 'failed';
  if (reason === 'net::ERR_ABORTED') return [];
  return [`${request.method()} ${request.url()}: ${reason}`];
}
