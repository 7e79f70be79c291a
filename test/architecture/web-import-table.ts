/** The dashboard's part of the import table: the page knows the server by its HTTP API alone. */
import type { Row } from './import-row.js';

const WEB = 'coordinator/web/src';
/** What the API answers with. */
const ANSWERS = ['admin', 'console', 'http', 'openapi'].map((one) => `coordinator/src/${one}`);

export const WEB_TABLE: Readonly<Record<string, Row>> = {
  // How it is built.
  'coordinator/web': { may: [], packages: ['vite'] },
  'coordinator/web/generated': { may: [], node: false },
  // Draws the first page.
  [WEB]: {
    may: [`${WEB}/shell`, `${WEB}/shell/theme.ts`, `${WEB}/style`],
    packages: ['preact'],
    node: false,
  },
  [`${WEB}/style`]: { may: [], node: false },
  // What is asked of the server, and what is kept of its answers.
  [`${WEB}/api`]: {
    may: [],
    types: ANSWERS,
    packages: ['@preact/signals', 'preact'],
    node: false,
  },
  // What every screen is made of; it knows of no screen.
  [`${WEB}/ui`]: {
    may: [`${WEB}/api`, `${WEB}/style`, 'coordinator/web/generated'],
    types: ANSWERS,
    packages: ['@preact/signals', 'dompurify', 'marked', 'preact', 'preact-iso', 'uplot'],
    node: false,
  },
  // Kept by the browser; the frame uses it before anything is drawn, and a screen changes it.
  [`${WEB}/shell/theme.ts`]: {
    may: [`${WEB}/api`],
    packages: ['@preact/signals', 'preact'],
    node: false,
  },
  // The frame around the screens, which it loads.
  [`${WEB}/shell`]: {
    may: ['api', 'screens', 'shell/theme.ts', 'style', 'ui'].map((one) => `${WEB}/${one}`),
    packages: ['@preact/signals', 'preact', 'preact-iso'],
    node: false,
  },
  [`${WEB}/screens`]: {
    may: ['api', 'shell/theme.ts', 'style', 'ui'].map((one) => `${WEB}/${one}`),
    types: ANSWERS,
    packages: ['@preact/signals', 'preact', 'preact-iso', 'uplot'],
    node: false,
  },
};
