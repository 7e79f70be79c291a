/** How soon the page can be used, with a cold cache: the way in, and Home with its first figure. */
import type { DashboardRound } from './dashboard-round.js';
import type { Town } from './town.js';

const LOG_IN = `document.querySelector('input[type=password]') !== null`;
const FIRST_FIGURE = `/[0-9]/.test(document.querySelector('.tile .figure')?.textContent ?? '')`;

export async function firstScreenPhase(round: DashboardRound, town: Town): Promise<void> {
  const { browser, samples, size } = round;
  if (browser === null) return;
  round.say('first screens');
  const { origin, members } = town;
  const session = members[0]?.session ?? null;
  for (let i = 0; i < size.openings; i++) {
    const home = await browser.open({ url: origin, session, isDrawn: FIRST_FIGURE });
    samples.add('gateway', 'open.home', home.drawnMs);
    samples.add('gateway', 'open.home.task', await home.longestTask());
    await home.close();
    const logIn = await browser.open({ url: `${origin}/login`, session: null, isDrawn: LOG_IN });
    samples.add('gateway', 'open.login', logIn.drawnMs);
    samples.add('gateway', 'open.login.task', await logIn.longestTask());
    await logIn.close();
  }
}
